import type { EventType } from './index.ts'

/** The payload of an event as the log stores it: JSON, with sealed personal fields. */
export type Stored = Readonly<Record<string, unknown>>
/** Turns the payload of one version of a type into that of the next. It never fails: the schema judges its result. */
export type Upcast = (data: Stored) => Stored

/**
 * What has changed in the shape of each type, oldest first: the first entry turns version 1 into version 2. A field
 * that is optional needs no version. Events are never rewritten; `metadata.v` is the version in which an event was
 * stored.
 */
const upcasts: Readonly<Partial<Record<EventType, readonly Upcast[]>>> = {
  // 2: may have no `token`; an older process must not take the domain for a verified one
  DomainCreated: [(data) => data],
  DomainRestored: [(data) => data],
  // 2: the accepted languages of the clicks; those of older clicks are unknown
  LinkClicked: [(data) => ({ ...data, languages: [] })],
}

/** Returns the version in which this release writes events of a type. */
export const versionOf = (type: EventType): number => 1 + (upcasts[type]?.length ?? 0)

/** Returns a stored payload in the current shape of its type. */
export const upcast = (type: EventType, version: number, data: unknown): unknown =>
  (upcasts[type] ?? []).slice(Math.max(0, version - 1)).reduce((older, next) => next(older), data as Stored)
