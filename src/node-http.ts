/**
 * `node:http` without its `import`, which would read everything that the module has: with `http.WebSocket` comes the whole
 * of Node's other HTTP client, and that takes each process 40 ms of its start.
 */
export const nodeHttp = process.getBuiltinModule('node:http')
