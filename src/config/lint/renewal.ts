/** For how long people need to replace something, before it ends. */
export const dueAtMs = 14 * 86_400_000
