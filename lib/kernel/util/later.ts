import { andThen } from './thenable.ts'
import type { MaybePromise } from './thenable.ts'

/** A module that is loaded when it is first needed, so that a start does not pay for it. */
export class Later<T> {
  readonly #load: () => Promise<T>
  #module: T | undefined

  constructor(load: () => Promise<T>) {
    this.#load = load
  }

  /** What has to be waited for; undefined once the module is there. */
  readonly load = (): Promise<void> | undefined => (
    this.#module === undefined ? this.#load().then((module) => { this.#module = module }) : undefined
  )

  /** The module, after `load`. */
  get loaded(): T { return this.#module! }

  /** Does something with the module: at once where it is there. */
  use<R>(act: (module: T) => MaybePromise<R>): MaybePromise<R> {
    return andThen(this.load(), () => act(this.loaded))
  }
}
