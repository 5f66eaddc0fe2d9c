import type { CreateServerUnderTest } from './server-under-test.ts'
import { createStrictServer } from './strict-server.ts'

/** The server whose reading is held to Node's. */
export const createOurServer: CreateServerUnderTest = createStrictServer()
