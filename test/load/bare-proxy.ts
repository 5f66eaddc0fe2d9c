/**
 * The least a Node user would write to forward requests: `http-proxy` with connections kept open, and nothing else. A
 * program of its own. Usage: node bare-proxy.ts PORT UPSTREAM
 */
import { Agent, createServer } from 'node:http'
import httpProxy from 'http-proxy'

const [port, target] = process.argv.slice(2)
if (port === undefined || target === undefined) throw new TypeError('usage: node bare-proxy.ts PORT UPSTREAM')

const proxy = httpProxy.createProxyServer({ target, agent: new Agent({ keepAlive: true }) })
proxy.on('error', (_error, _request, response) => response?.destroy())

createServer((request, response) => proxy.web(request, response)).listen(Number(port), '127.0.0.1')
