import { contrast } from '../../qr/color.ts'
import { inline } from './csp.ts'

/** Style of every page. */
export const baseStyle = inline(`:root{color-scheme:light dark}*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100svh;display:grid;place-items:center;padding:1.25rem;font:1.05rem/1.5 system-ui,sans-serif;background:#f6f7f9;color:#1c2430}
main{width:100%;max-width:28rem;background:#fff;border:1px solid #dfe3e8;border-radius:.75rem;padding:clamp(1.25rem,6vw,2rem);overflow-wrap:anywhere}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 .5rem}p{margin:.5rem 0 0}.problem{color:#a3231f}a{color:#1d4ed8}
ul{list-style:none;margin:1.25rem 0 0;padding:0}li{border-top:1px solid #dfe3e8}li a{display:block;padding:.75rem 0;text-decoration:none}li a:hover{text-decoration:underline}
small{display:block;color:#5b6675}nav{display:flex;gap:1rem;padding-top:1rem;border-top:1px solid #dfe3e8}
.bio{text-align:center}.bio img{width:6rem;height:6rem;margin-bottom:1rem;border-radius:50%;object-fit:cover;background:#dfe3e8}.bio p{white-space:pre-line}
.bio li{border:0;margin-top:.75rem}.bio li a{padding:.85rem 1rem;border:1px solid #c3cad3;border-radius:.75rem;background:#f6f7f9;color:inherit;font-weight:600}
form{margin-top:1.25rem;display:grid;gap:.75rem}label{font-weight:600}
input,textarea,button,.button{font:inherit;padding:.65rem .8rem;border-radius:.5rem;border:1px solid #8a94a3;width:100%}textarea{resize:vertical}
button,.button{background:#1d4ed8;border-color:#1d4ed8;color:#fff;font-weight:600;cursor:pointer}
.button{display:block;margin-top:1.25rem;text-align:center;text-decoration:none}.trap{position:absolute;left:-99rem}
input:focus-visible,textarea:focus-visible,button:focus-visible,a:focus-visible{outline:3px solid #60a5fa;outline-offset:2px}
@media(prefers-color-scheme:dark){body{background:#12161c;color:#e6eaf0}main{background:#1b212a}main,li,nav{border-color:#313a46}
.problem{color:#ff9c94}a{color:#8ab4ff}small{color:#a7b1be}
input,textarea{background:#12161c;color:inherit;border-color:#5b6675}.bio li a{background:#242c37;border-color:#465160}.bio img{background:#313a46}}`)

/** Style of pages that use the whole window: a bar, and the framed destination below it. */
export const wideStyle =
  inline(`body{display:flex;flex-direction:column;align-items:stretch;height:100vh;height:100dvh;min-height:0;padding:0}
.bar{display:flex;align-items:center;gap:.75rem;padding:.45rem .75rem;background:#fff;border-bottom:1px solid #dfe3e8;font-size:.95rem;line-height:1.3}
.bar p{flex:1;min-width:0;margin:0;overflow-wrap:anywhere}.bar b{display:block;font-weight:600;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.bar small{font-size:.85rem}.bar a,.hint a{flex:none;padding:.4rem .8rem;border-radius:.5rem;background:#1d4ed8;color:#fff;font-weight:600;text-decoration:none}
.stage{position:relative;flex:1;min-height:0}iframe{display:block;width:100%;height:100%;border:0;background:#fff}
.hint{display:grid;place-content:center;justify-items:center;gap:1rem;height:100%;padding:1.25rem;text-align:center}.hint p{margin:0}
@media(prefers-color-scheme:dark){.bar{background:#1b212a;border-color:#313a46}}`)

export const splashStyle =
  inline(`.splash{text-align:center}.splash img{display:block;max-width:100%;margin:0 auto 1.25rem;border-radius:.5rem}.splash .logo{max-height:4.5rem}
.splash .banner{width:100%;max-height:16rem;object-fit:cover}.splash p{white-space:pre-line;text-wrap:balance}.splash h1 a{color:inherit}`)

const ctaStyle = `.cta{position:absolute;z-index:1;width:min(22rem,calc(100% - 1.5rem));max-height:calc(100% - 1.5rem);overflow:auto;overflow-wrap:anywhere;
background:#fff;border:1px solid #dfe3e8;border-top:.3rem solid var(--own);border-radius:.75rem;box-shadow:0 .5rem 2rem #0005;padding:0 1.1rem 1.1rem}
.cta:not([open]){width:auto;padding-bottom:0}.bl,.br{bottom:.75rem}.tl,.tr{top:.75rem}.bl,.tl{left:.75rem}.br,.tr{right:.75rem}
.cta summary{display:flex;justify-content:space-between;gap:1rem;padding:.6rem 0;cursor:pointer;list-style:none;font-size:.85rem;color:#5b6675}
.cta summary::-webkit-details-marker{display:none}.cta summary::after{content:"\\2715"}.cta:not([open]) summary::after{content:"\\2197"}
.cta p,.cta legend{margin:0;white-space:pre-line}.cta p+p{margin-top:.5rem}.cta img{display:block;max-width:100%;max-height:45vh;margin:0 auto;border-radius:.5rem}
.cta form{margin-top:.75rem;gap:.5rem}.cta fieldset{border:0;margin:0;padding:0;display:grid;gap:.4rem}.cta legend{padding:0 0 .5rem;font-weight:600}
.cta fieldset label{display:flex;gap:.6rem;align-items:baseline;font-weight:400;padding:.3rem 0}.cta input[type=radio]{width:auto;flex:none}
.cta code{display:block;margin-top:.75rem;padding:.7rem;border:2px dashed var(--own);border-radius:.5rem;font:600 1.2rem ui-monospace,monospace;text-align:center;user-select:all}
.cta .button,.cta button{background:var(--own);border-color:var(--own);color:var(--on)}.cta .button{margin-top:.9rem}
summary:focus-visible{outline:3px solid #60a5fa;outline-offset:2px}
@media(prefers-color-scheme:dark){.cta{background:#1b212a;border-color:#313a46;border-top-color:var(--own)}.cta summary{color:#a7b1be}}`

/** Returns the style of an overlay in its owner's color (`#rrggbb`), with text that is readable on it. */
export const overlayStyle = (color: string) => {
  const text = contrast(color, '#ffffff') >= 4.5 ? '#ffffff' : '#111827'
  return inline(`:root{--own:${color};--on:${text}}${ctaStyle}`)
}
