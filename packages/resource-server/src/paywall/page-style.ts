/** The style of the page for browsers. The content policy allows exactly this text, by its hash. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f9; --card: #fff; --text: #171a26; --quiet: #565d72; --line: #dfe2ec;
  --accent: #4338ca; --on-accent: #fff; --code: #eef0f7; --good: #0b6b4f;
  --shadow: 0 1px 2px #171a2614, 0 8px 28px #171a2612;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10121a; --card: #191c27; --text: #eceef6; --quiet: #a3aac0; --line: #2c3142;
    --accent: #a5b4fc; --on-accent: #12141d; --code: #0c0e15; --good: #6ee7b7; --shadow: none;
  }
}
* { box-sizing: border-box; margin: 0; }
body {
  background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif;
  max-width: 56rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere;
}
header, footer { color: var(--quiet); font-size: .9rem; }
.status {
  border: 1px solid var(--line); border-radius: .4rem; padding: .1rem .45rem; margin-right: .4rem;
  font-variant-numeric: tabular-nums; color: var(--text);
}
main { display: grid; gap: 2rem; margin: 1.25rem 0 2rem; }
main > section { min-width: 0; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: clamp(1.25rem, 5vw, 2.25rem);
  box-shadow: var(--shadow);
}
.card > * + * { margin-top: 1rem; }
.merchant { font-weight: 600; color: var(--accent); }
h1 { font-size: 1.1rem; font-weight: 400; color: var(--quiet); line-height: 1.3; }
.card > .merchant + h1 { margin-top: .25rem; }
h1 strong { display: block; color: var(--text); font-size: clamp(2.2rem, 9vw, 3.25rem); letter-spacing: -.02em; }
h1 strong span { font-size: .5em; font-weight: 600; color: var(--quiet); letter-spacing: 0; }
h2 { font-size: 1.2rem; margin-bottom: .75rem; }
h3 { font-size: 1rem; margin-bottom: .35rem; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.button {
  display: inline-block; background: var(--accent); color: var(--on-accent); border-radius: .6rem; padding: .8rem 1.6rem;
  font-weight: 600; text-decoration: none; text-align: center;
}
.button:hover { filter: brightness(1.1); }
pre code { font-size: 1em; }
.hint { color: var(--quiet); font-size: .9rem; }
.card > p + .hint { margin-top: .5rem; }
dl div { display: grid; gap: 0 1rem; padding: .65rem 0; border-top: 1px solid var(--line); }
dt { color: var(--quiet); font-size: .9rem; }
.card > dl { margin-top: 1.5rem; }
.card > details { margin-top: 0; padding-top: .65rem; border-top: 1px solid var(--line); }
summary { cursor: pointer; color: var(--quiet); font-size: .9rem; }
details dl { margin-top: .65rem; }
code, pre { font: .9em/1.6 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; }
.columns { display: grid; gap: 1rem; }
.columns section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem 1.1rem; }
.columns p { font-size: .95rem; }
.columns p + p { margin-top: .5rem; }
.hidden b { color: var(--good); }
pre {
  background: var(--code); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem; margin-top: .6rem;
  overflow-x: auto; overflow-wrap: normal; user-select: all;
}
@media (min-width: 40rem) {
  body { padding: 2.5rem 1.5rem 4rem; }
  dl div { grid-template-columns: 8rem 1fr; }
  dt { line-height: 1.72; }
  .columns { grid-template-columns: repeat(3, 1fr); }
}
@media (max-width: 39.99rem) { .button { display: block; } }
`;
