/**
 * Every case, in the order of the report.
 */
import { a2aCases } from './cases/a2a.js'
import { faceCases } from './cases/faces.js'
import { httpCases } from './cases/http.js'
import { mcpCases } from './cases/mcp.js'
import { pairCase } from './cases/pair.js'

export const cases = [...mcpCases, pairCase, ...a2aCases, ...httpCases, ...faceCases]
