import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answers, type cores, findFreePort, type Programs } from './program.ts'

/** Starts nginx with one worker on a core. Resolves to its origin. */
const startNginx = async (
  programs: Programs,
  { name, core, dir, http }: { name: string; core: (typeof cores)[keyof typeof cores]; dir: string; http: string },
): Promise<string> => {
  const port = await findFreePort()
  const prefix = join(dir, name)
  mkdirSync(prefix)
  writeFileSync(join(prefix, 'nginx.conf'), toConfig(port, http))
  const origin = `http://127.0.0.1:${port}`
  await programs.start({
    name,
    core,
    command: ['nginx', '-p', prefix, '-c', 'nginx.conf', '-e', 'stderr'],
    readyWhen: () => answers(origin),
  })
  return origin
}

// Connections live through the whole run: nginx would otherwise close each after 1000 requests.
const toConfig = (port: number, http: string): string => `
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  ${http.replaceAll('PORT', `${port}`)}
}
`

/** The service behind everything that is measured: the same short answer to whatever comes. */
export const startUpstream = (programs: Programs, dir: string, core: (typeof cores)[keyof typeof cores]) =>
  startNginx(programs, {
    name: 'upstream',
    core,
    dir,
    http: 'server { listen 127.0.0.1:PORT; default_type application/json; return 200 \'{"account":"1","balance":42}\'; }',
  })

/** nginx as a forwarder, with connections to the upstream kept open. */
export const startForwarder = (
  programs: Programs,
  dir: string,
  core: (typeof cores)[keyof typeof cores],
  upstream: string,
) =>
  startNginx(programs, {
    name: 'nginx',
    core,
    dir,
    http: `upstream accounts { server ${new URL(upstream).host}; keepalive 128; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:PORT;
    location / { proxy_pass http://accounts; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }`,
  })
