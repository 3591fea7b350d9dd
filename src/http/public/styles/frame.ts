import { css } from './css.ts'

/** Style of pages that use the whole window: a bar, and the framed destination below it. */
export const frameStyle = css(`
body { display: flex; flex-direction: column; block-size: 100vh; block-size: 100dvh; min-block-size: 0 }
.bar { display: flex; align-items: center; gap: var(--space-3); padding: .45rem .75rem; background: var(--surface); border-block-end: var(--rule) solid var(--line); font-size: var(--size-2); line-height: 1.3 }
.bar p { flex: 1; min-inline-size: 0 }
.bar b { display: block; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.bar a { flex: none }
.stage { position: relative; flex: 1; min-block-size: 0 }
iframe { display: block; inline-size: 100%; block-size: 100%; border: 0; background: #fff }
.hint { display: grid; place-content: center; justify-items: center; gap: var(--space-4); block-size: 100%; padding: var(--space-4); text-align: center }
`)
