/**
 * Paths, of addresses and of mounts: names with `/` between them. Knows nothing of escapes, which are
 * resolved before. RFC 3986 §3.3.
 */

/** Whether a path is another one, or lies below it: `/team/a` below `/team` and `/team/`, `/teams` not. */
export function isAtOrBelow(path: string, top: string): boolean {
  return path === top || path.startsWith(top.endsWith('/') ? top : `${top}/`)
}
