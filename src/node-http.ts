/**
 * `node:http`, loaded when it is called for: nothing that serves requests needs it. Not by `import`, which would read
 * everything that the module has: with `http.WebSocket` comes the whole of Node's other HTTP client, and that takes
 * each process 40 ms of its start.
 */
export const nodeHttp = (): typeof import('node:http') => process.getBuiltinModule('node:http')
