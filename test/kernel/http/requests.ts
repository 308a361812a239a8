/** Requests as they are on the wire. No test itself. */

export const QUERY = '{"query":"hello"}'
export const POST = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
export const GOOD = `${POST}Content-Length: ${QUERY.length}\r\nConnection: close\r\n\r\n${QUERY}`

/** The rest of a request that is the last on its connection and has nothing in it. */
export const LAST = 'HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
