/** The files and folders that definitions were read from, besides modules: a command may watch them. */

/** `readAt`: when it is read, by `Date.now()`. */
type Listener = (path: string, readAt: number) => void

let listener: Listener | undefined

/** Notes a file or a folder, by its absolute path, before it is read; of another process with its time. */
export function noteSource(path: string, readAt: number = Date.now()): void {
  listener?.(path, readAt)
}

/** Calls `watcher`, in the place of an earlier one, with each path that is noted from now on. */
export function onSource(watcher: Listener): void {
  listener = watcher
}
