import { dirname } from 'node:path'

/** How long the operations on one file may take, in milliseconds. */
const deadlineMs = 5000

/** libuv has four helper threads for the files, the names and the password hashes of a process. Two stay free of files. */
const maxAtOnce = 2

interface Operation {
  readonly folder: string
  isOverdue: boolean
}

const underWay = new Set<Operation>()
const waiting: (() => void)[] = []

/**
 * Does something with a file, in helper threads of libuv, and rejects with ETIMEDOUT when that takes too long, as on a network file
 * system whose server is away. The thread stays blocked until the file system answers. Until then nothing else is tried in that
 * folder, and nothing in any folder while two threads are blocked.
 */
export const withinDeadline = <T>(path: string, operate: () => Promise<T>, limitMs = deadlineMs): Promise<T> =>
  new Promise((resolve, reject) => {
    const operation: Operation = { folder: dirname(path), isOverdue: false }
    const refuse = (): void => reject(fileError('ETIMEDOUT', path))
    if (isBlocked(operation.folder)) return refuse()
    const timer = setTimeout(() => {
      operation.isOverdue = true
      refuse()
    }, limitMs).unref()
    const end = (): void => {
      clearTimeout(timer)
      underWay.delete(operation)
      waiting.shift()?.()
    }
    const begin = (): void => {
      // The operation has waited for others until its own deadline.
      if (operation.isOverdue) end()
      else {
        underWay.add(operation)
        operate().then(resolve, reject).finally(end)
      }
    }
    if (underWay.size < maxAtOnce) begin()
    else waiting.push(begin)
  })

/** Whether a helper thread may be blocked by a file. */
export const hasFilesUnderWay = (): boolean => underWay.size > 0

const isBlocked = (folder: string): boolean => {
  let overdue = 0
  for (const operation of underWay) {
    if (!operation.isOverdue) continue
    if (operation.folder === folder) return true
    overdue += 1
  }
  return overdue === maxAtOnce
}

/** An error as `node:fs` makes them. */
export const fileError = (code: string, path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${path}`), { code, path, syscall: 'read' })

/**
 * Listener for the `exit` event of the process. Node would join the helper threads of libuv at the exit, and wait for ever for one that
 * a file system blocks. execve(2) ends all threads, so the process becomes another one that only exits with the same code.
 */
export const exitWithoutHelperThreads = (exitCode: number): void => {
  if (!hasFilesUnderWay() || process.execve === undefined) return
  try {
    process.execve(process.execPath, [process.execPath, '-e', `process.exitCode = ${exitCode}`], {})
  } catch {
    // The system does not let us: Node's own exit is left.
  }
}
