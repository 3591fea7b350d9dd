import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

/** What is shown above every screen, and what is open on it. */
export const overlay = signal<ComponentChildren>(undefined)
