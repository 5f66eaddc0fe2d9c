/**
 * Node for programs that share a core with the gateway. Their work beside the event loop would take the core from the
 * measured program, and a collection of old objects takes milliseconds. With so much room for young objects hardly
 * any grow old.
 */
export const quietNode: readonly string[] = [process.execPath, '--single-threaded-gc', '--max-semi-space-size=64']
