/**
 * A store that lies across a network, made of its commands: what is checked before anything is sent, and what
 * is said on topics in its order. The same for every engine.
 */
import { Publishing } from './publishing.ts'
import { measure, requireKey } from './size.ts'
import type { Store } from '../core/store.ts'
import type { FollowedTopics } from './followed-topics.ts'
import type { Say } from './publishing.ts'

/** What one engine does. */
export interface RemoteCommands extends Pick<Store, 'read' | 'write' | 'remove' | 'list'> {
  readonly followed: FollowedTopics
  readonly say: Say
  close(): Promise<void>
}

/** Makes the store. Over `maxValueBytes` a value or an event is `Fault('too-large')`. */
export function remoteStore(commands: RemoteCommands, maxValueBytes: number): Store {
  const publishing = new Publishing((topic, batch) => commands.say(topic, batch))
  return {
    isShared: true,
    read: (place) => commands.read(place),
    async write(place, value, keepMs, expected) {
      requireKey(place)
      measure(value, maxValueBytes)
      return await commands.write(place, value, keepMs, expected)
    },
    remove: (place, expected) => commands.remove(place, expected),
    list: (collection, owner, limit, before) => commands.list(collection, owner, limit, before),
    async publish(topic, text, keep) {
      await publishing.publish(topic, text, keep, measure(text, maxValueBytes))
    },
    follow: (topic, from, listener, onLost) => commands.followed.follow(topic, from, listener, onLost),
    close: () => commands.close(),
  }
}
