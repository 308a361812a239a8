/**
 * A store that lies across a network, made of its commands: what is checked before anything is sent, and what
 * is said on topics in its order. The same for every engine.
 */
import { Publishing } from './publishing.ts'
import { measure, requireKey } from '../shared/size.ts'
import type { Store } from '../../state/store.ts'
import type { FollowedTopics } from './followed-topics.ts'
import type { Say } from './publishing.ts'

/** What one engine does. */
export interface RemoteCommands extends Pick<Store, 'read' | 'write' | 'remove' | 'list'> {
  readonly followed: FollowedTopics
  readonly say: Say
  close(): Promise<void>
}

/**
 * Makes the store. `load` brings its commands, when the first of them is needed. Over `maxValueBytes` a value
 * or an event is `Fault('too-large')`.
 */
export function remoteStore(load: () => Promise<RemoteCommands>, maxValueBytes: number): Store {
  let loading: Promise<RemoteCommands> | undefined
  const loaded = (): Promise<RemoteCommands> => loading ??= load()
  const publishing = new Publishing(async (topic, batch) => (await loaded()).say(topic, batch))
  return {
    isShared: true,
    read: async (place) => (await loaded()).read(place),
    async write(place, value, keepMs, expected) {
      requireKey(place)
      measure(value, maxValueBytes)
      return (await loaded()).write(place, value, keepMs, expected)
    },
    remove: async (place, expected) => (await loaded()).remove(place, expected),
    list: async (collection, owner, limit, before) => (
      (await loaded()).list(collection, owner, limit, before)
    ),
    async publish(topic, text, keep) {
      await publishing.publish(topic, text, keep, measure(text, maxValueBytes))
    },
    follow: async (topic, from, listener, onLost) => (
      (await loaded()).followed.follow(topic, from, listener, onLost)
    ),
    close: async () => (await loaded()).close(),
  }
}
