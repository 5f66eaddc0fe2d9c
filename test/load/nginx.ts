import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../support/free-port.ts'
import { answers, type Core, type Programs, type Served } from './program.ts'

/** Lines of a configuration. `PORT` stands for the port to listen on. */
export interface NginxConfig {
  /** Before everything else, as modules must be loaded. Left out: none. */
  readonly main?: readonly string[]
  /** Inside of `http`. */
  readonly http: readonly string[]
}

/** The service behind everything that is measured: the same short answer to whatever comes. */
export const startUpstream = (programs: Programs, dir: string, core: Core): Promise<Served> =>
  startNginx(programs, join(dir, 'upstream'), core, {
    http: [
      'server {',
      '  listen 127.0.0.1:PORT;',
      '  default_type application/json;',
      `  return 200 '{"account":"1","balance":42}';`,
      '}',
    ],
  })

/** nginx as a forwarder, with connections to the upstream kept open. */
export const startForwarder = (programs: Programs, dir: string, core: Core, upstream: string): Promise<Served> =>
  startNginx(programs, join(dir, 'nginx'), core, {
    http: [
      keptUpstream(upstream),
      'server {',
      '  listen 127.0.0.1:PORT;',
      '  location / { proxy_pass http://accounts; proxy_http_version 1.1; proxy_set_header Connection ""; }',
      '}',
    ],
  })

/** `http://accounts`, whose connections stay open. */
export const keptUpstream = (upstream: string): string =>
  `upstream accounts { server ${new URL(upstream).host}; keepalive 128; keepalive_requests 100000000; }`

/** Starts it with one worker. Its `/` has to answer with 2xx. */
export const startNginx = async (
  programs: Programs,
  dir: string,
  core: Core,
  { main = [], http }: NginxConfig,
): Promise<Served> => {
  const port = await findFreePort()
  mkdirSync(dir)
  writeFileSync(join(dir, 'nginx.conf'), toConfig(main, http).replace(':PORT;', `:${port};`))
  const origin = `http://127.0.0.1:${port}`
  const pid = await programs.start({
    name: 'nginx',
    core,
    command: ['nginx', '-p', dir, '-c', 'nginx.conf', '-e', 'stderr'],
    readyWhen: () => answers(origin),
  })
  return { origin, pid }
}

const toConfig = (main: readonly string[], http: readonly string[]): string =>
  [
    ...main,
    'daemon off;',
    // As root nginx would change to a user that cannot read the temporary folder.
    process.getuid?.() === 0 ? 'user root;' : '',
    'worker_processes 1;',
    'pid nginx.pid;',
    'error_log stderr crit;',
    'events { worker_connections 1024; }',
    'http {',
    '  access_log off;',
    // Connections live through the whole run: nginx would otherwise close each after 1000 requests.
    '  keepalive_requests 100000000;',
    // Its usual folders are writable for root alone.
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `  ${name}_temp_path ${name};`),
    ...http.map(line => `  ${line}`),
    '}',
  ].join('\n')
