import { dirname } from 'node:path'

/** The deadline for all operations on one file, in milliseconds. */
const deadlineMs = 5000

/** libuv has four threads per process, for files, names and password hashes. Files may block at most two of them. */
const maxAtOnce = 2

interface Operation {
  readonly folder: string
  isOverdue: boolean
}

const underWay = new Set<Operation>()
const waiting: (() => void)[] = []

/**
 * Runs an operation on a file in the thread pool of libuv, and rejects with ETIMEDOUT if it takes too long, for example
 * on a network file system whose server is away. The thread remains blocked until the file system answers. Until then
 * no other operation is tried in that folder, and none in any folder while two threads are blocked.
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
      // The operation has waited in the queue until its own deadline.
      if (operation.isOverdue) end()
      else {
        underWay.add(operation)
        operate().then(resolve, reject).finally(end)
      }
    }
    if (underWay.size < maxAtOnce) begin()
    else waiting.push(begin)
  })

/** Whether a thread of libuv may be blocked by a file. */
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

/** An error like those of `node:fs`. */
export const fileError = (code: string, path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${path}`), { code, path, syscall: 'read' })

/**
 * Listener for the `exit` event of the process. At the exit Node joins the threads of libuv, and would wait for ever
 * for a thread that a file system blocks. execve(2) ends all threads: the process is replaced by one that only exits
 * with the same code.
 */
export const exitWithoutHelperThreads = (exitCode: number): void => {
  if (!hasFilesUnderWay() || process.execve === undefined) return
  try {
    process.execve(process.execPath, [process.execPath, '-e', `process.exitCode = ${exitCode}`], {})
  } catch {
    // The system does not allow it, so Node exits by itself.
  }
}
