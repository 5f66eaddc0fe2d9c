import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keptUpstream, startNginx } from '../nginx.ts'
import { cores, type Programs, type Served } from '../program.ts'
import { createIssuer, type Issuer, issuerName } from './issuer.ts'

/** Debian's packages of what the Lua code needs; the last one brings the module, as a part of nginx-extras. */
export const luaPackages = ['lua-cjson', 'lua-luaossl', 'lua-nginx-redis'] as const

/** The client under load has a plan that is far above it, as Sidegate's; the other one can use its plan up. */
export const clients = { loaded: 'load-1', narrow: 'narrow-1' } as const
export const narrowLimit = 5

export const neededScope = 'accounts:read'

/** nginx as a gateway, and the issuer of its tokens. */
export interface LuaGateway extends Served {
  readonly issuer: Issuer
}

interface LuaGatewayStart {
  readonly upstream: string
  /** The URL of the Redis that counts. */
  readonly redis: string
  readonly dir: string
}

/** Whether nginx has its Lua module. */
export const hasLuaModule = (): boolean => existsSync(toModulePath('ngx_http_lua_module'))

/** Starts nginx with Lua code for the work of Sidegate's row `everything`, except metrics and revocations. */
export const startLuaGateway = async (
  programs: Programs,
  { upstream, redis, dir }: LuaGatewayStart,
): Promise<LuaGateway> => {
  const issuer = createIssuer()
  const settingsDir = join(dir, 'nginx-lua-settings')
  mkdirSync(settingsDir)
  const settingsFile = join(settingsDir, 'settings.json')
  writeFileSync(settingsFile, JSON.stringify(toSettings(issuer, redis)))
  const http = toHttp(upstream, settingsFile)
  const main = ['ndk_http_module', 'ngx_http_lua_module'].map(name => `load_module ${toModulePath(name)};`)
  return { ...(await startNginx(programs, join(dir, 'nginx-lua'), cores.measured, { main, http })), issuer }
}

/** Where Debian's nginx, or another one, looks for its modules. */
const toModulePath = (name: string): string => {
  const { stderr } = spawnSync('nginx', ['-V'], { encoding: 'utf8' })
  return join(/--modules-path=(\S+)/.exec(stderr ?? '')?.[1] ?? '/usr/lib/nginx/modules', `${name}.so`)
}

const toSettings = ({ publicKey }: Issuer, redis: string): object => ({
  issuer: issuerName,
  public_key: publicKey,
  redis_port: Number(new URL(redis).port),
  plans: { load: { limit: 1_000_000, window_sec: 1 }, narrow: { limit: narrowLimit, window_sec: 86_400 } },
  plan_of: { [clients.loaded]: 'load', [clients.narrow]: 'narrow' },
})

const toHttp = (upstream: string, settingsFile: string): readonly string[] => [
  `lua_package_path "${import.meta.dirname}/?.lua;;";`,
  'init_by_lua_block {',
  `  local settings = require("cjson").decode(assert(io.open("${settingsFile}")):read("*a"))`,
  '  for _, name in ipairs { "access-token", "plan" } do require(name).configure(settings) end',
  '  require "access"',
  '}',
  // The members of Sidegate's own line.
  `log_format request escape=json '{"level":"info","time":"$time_iso8601","worker_pid":$pid,"event":"request",'`,
  `  '"request_id":"$request_id","method":"$request_method","path":"$uri","status":$status,"client_id":"$client_id",'`,
  `  '"address":"$remote_addr","duration":$request_time,"upstream":"$upstream_response_time"}';`,
  keptUpstream(upstream),
  'server {',
  '  listen 127.0.0.1:PORT;',
  '  location = / { return 204; }',
  '  location /guarded/ {',
  ...policy.map(line => `    ${line}`),
  '  }',
  '}',
]

const policy: readonly string[] = [
  'access_log /dev/null request buffer=64k flush=1s;',
  `set $client_id ''; set $subject ''; set $scope '';`,
  `access_by_lua_block { require("access").check("${neededScope}") }`,
  'proxy_pass http://accounts;',
  'proxy_http_version 1.1;',
  ...Object.entries({
    Connection: '""',
    Authorization: '""',
    'X-Client-Id': '$client_id',
    'X-Subject': '$subject',
    'X-Scope': '$scope',
    'X-Request-Id': '$request_id',
    'X-Forwarded-For': '$remote_addr',
    'X-Forwarded-Proto': '$scheme',
    'X-Forwarded-Host': '$http_host',
  }).map(([name, value]) => `proxy_set_header ${name} ${value};`),
  'add_header X-Request-Id $request_id;',
]
