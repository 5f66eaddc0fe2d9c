import { createHash } from 'node:crypto'
import { Html } from './html.ts'

/**
 * The stylesheet of all pages. It is inline, so nothing is loaded, and the policy allows exactly this text by its
 * hash.
 */
const stylesheet = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f3f4f7, #0e1116);
  --card: light-dark(#ffffff, #171b22);
  --line: light-dark(#d9dde5, #2c333e);
  --field: light-dark(#8a93a3, #667080);
  --text: light-dark(#161a22, #eceff4);
  --muted: light-dark(#566072, #a3adbd);
  --accent: light-dark(#2450c8, #8fb0ff);
  --on-accent: light-dark(#ffffff, #0b1530);
  --tint: light-dark(#e9eefc, #1f2a45);
  --alarm: light-dark(#a3161f, #ff9c9c);
  --alarm-tint: light-dark(#fdecec, #3a1a1d);
}
* { box-sizing: border-box; margin: 0; }
body {
  min-height: 100vh; min-height: 100dvh; padding: 24px 16px;
  display: flex; flex-direction: column; align-items: center; justify-content: center; gap: 20px;
  background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
main {
  width: 100%; max-width: 416px; padding: 32px;
  background: var(--card); border: 1px solid var(--line); border-radius: 16px;
  box-shadow: 0 1px 2px #0000000a, 0 12px 32px #00000014;
}
.mark {
  width: 48px; height: 48px; margin-bottom: 20px; border-radius: 12px;
  display: grid; place-items: center; background: var(--tint); color: var(--accent);
  font-size: 22px; font-weight: 650;
}
.mark.warning { background: var(--alarm-tint); color: var(--alarm); }
h1 { font-size: 24px; line-height: 1.25; letter-spacing: -0.01em; font-weight: 650; }
h2 { margin: 24px 0 8px; font-size: 14px; font-weight: 600; }
p { margin-top: 8px; color: var(--muted); }
strong { color: var(--text); font-weight: 600; }
form { margin-top: 24px; }
label { display: block; margin: 16px 0 6px; font-size: 14px; font-weight: 600; }
input:not([type=hidden]) {
  width: 100%; min-height: 46px; padding: 10px 12px; font: inherit; color: var(--text);
  background: var(--card); border: 1px solid var(--field); border-radius: 10px;
}
input[aria-invalid=true] { border-color: var(--alarm); }
button {
  width: 100%; min-height: 46px; padding: 10px 16px; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--text); background: transparent; border: 1px solid var(--field); border-radius: 10px;
}
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button:hover { filter: brightness(0.94); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.actions { display: grid; gap: 10px; margin-top: 24px; }
.alarm {
  margin-top: 20px; padding: 12px 14px; border-left: 4px solid; border-radius: 10px; font-size: 15px; font-weight: 500;
  background: var(--alarm-tint); color: var(--alarm);
}
.scopes { padding: 0; list-style: none; border: 1px solid var(--line); border-radius: 10px; }
.scopes li { position: relative; padding: 11px 14px 11px 40px; }
.scopes li::before { content: "✓" / ""; position: absolute; left: 16px; color: var(--accent); font-weight: 650; }
.scopes li + li { border-top: 1px solid var(--line); }
.scopes code { font: 14px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.scopes span { display: block; }
.scopes span + code { color: var(--muted); font-size: 13px; }
.fine { margin-top: 16px; font-size: 14px; }
.hint { margin-top: 20px; padding-top: 16px; border-top: 1px solid var(--line); font-size: 14px; }
footer { font-size: 13px; color: var(--muted); text-align: center; }
@media (max-width: 480px) {
  body { justify-content: flex-start; padding: 16px 12px; }
  main { padding: 24px 20px; }
}
@media (forced-colors: active) { button.primary { border-width: 3px; } }
`

export const styleElement = new Html(`<style>${stylesheet}</style>`)

/** A Content-Security-Policy source that allows `styleElement` and no other style. */
export const styleSource = `'sha256-${createHash('sha256').update(stylesheet).digest('base64')}'`
