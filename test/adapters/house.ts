/** The inside of a server that knows the frameworks, for the tests of this folder. No test itself. */
import { frameworks } from '../../lib/adapters/frameworks.ts'
import * as own from '../fixtures/house.ts'

export { ask, callOf } from '../fixtures/house.ts'

export const serviceOf: typeof own.serviceOf = (options = {}, things) => (
  own.serviceOf({ adapters: frameworks, ...options }, things)
)
