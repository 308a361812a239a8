/**
 * One client on standard input and output, served by a server of what is named.
 *
 *     await serveStdio({ tools: [add], parts: [mcp()] })
 */
export { servePartsOnStdio as serveStdio } from './floors/lines/stdio-server.ts'

export type { LineOptions as StdioOptions } from './floors/lines/stdio-server.ts'
export type { LineServer, Lines, OpenedLines } from './kernel/server/part.ts'
