/**
 * Node for what stands beside the gateway on a core: its own work beside the event loop takes the core from what is measured, and a
 * collection of old objects takes milliseconds. With so much room for young ones hardly any grow old.
 */
export const quietNode: readonly string[] = [process.execPath, '--single-threaded-gc', '--max-semi-space-size=64']
