// Turns the Markdown of the repository into pages: links between files become links between pages, pictures follow the
// site's theme, and Mermaid diagrams are drawn in the browser.
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import type { MarkdownEnv, MarkdownRenderer } from "vitepress";
import { root } from "./exports.ts";
import { addressOf, pageOf } from "./pages.ts";

type Token = ReturnType<MarkdownRenderer["parse"]>[number];

const ELSEWHERE = /^(?:[a-z]+:|\/\/|#)/i;
/** Both images of a `<picture>` with a dark variant. */
const PICTURE =
  /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img src="([^"]+)"([^>]*)>\s*<\/picture>/g;

/** The path in the repository of the file that is rendered; undefined for the title in its front matter. */
function fileOf({ realPath, path }: Partial<MarkdownEnv>): string | undefined {
  const file = realPath ?? path;
  return file === undefined ? undefined : posix.relative(root, file);
}

/** A link to a page of the site; undefined if the file has no page. @throws Error if the file does not exist */
function linkOf(href: string, from: string): string | undefined {
  const [path = "", hash] = href.split("#");
  const target = posix.join(posix.dirname(from), decodeURI(path));
  const page = pageOf(target);
  if (page !== undefined) return `/${addressOf(page)}${hash === undefined ? "" : `#${hash}`}`;
  if (!existsSync(join(root, target))) throw new Error(`${from}: the link to ${href} leads nowhere`);
  return undefined;
}

/** Replaces the link at `index` by a link to a page, or by plain text if the file is in the repository only. */
function rewriteLink(tokens: Token[], index: number, from: string): void {
  const open = tokens[index]!;
  const href = open.attrGet("href") ?? "";
  if (ELSEWHERE.test(href)) return;
  const target = linkOf(href, from);
  if (target !== undefined) {
    open.attrSet("href", target);
    return;
  }
  const close = tokens.slice(index).find(({ type, level }) => type === "link_close" && level === open.level)!;
  for (const [token, tag] of [
    [open, `<span class="repository-file" title="${posix.join(posix.dirname(from), href)} in the repository">`],
    [close, "</span>"],
  ] as const) {
    token.type = "html_inline";
    token.content = tag;
  }
}

/** Two images; the style sheet shows the one for the current theme. */
const pictures = (html: string): string =>
  html.replaceAll(PICTURE, (_, dark: string, light: string, rest: string) =>
    [light, dark]
      .map(
        (source, index) =>
          `<img src="./${source}"${rest} class="${index === 0 ? "light" : "dark"}-only" loading="lazy">`,
      )
      .join(""),
  );

/** A plugin of markdown-it. */
export function repositoryPages(md: MarkdownRenderer): void {
  md.core.ruler.push("repository-pages", ({ tokens, env }) => {
    const from = fileOf(env as Partial<MarkdownEnv>);
    if (from === undefined) return;
    for (const token of tokens) {
      if (token.type === "html_block") token.content = pictures(token.content);
      for (const [index, { type }] of (token.children ?? []).entries())
        if (type === "link_open") rewriteLink(token.children!, index, from);
    }
  });
  // Vue would evaluate the text between two of these.
  for (const type of ["text", "code_inline"] as const) {
    const render = md.renderer.rules[type]!;
    md.renderer.rules[type] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;");
  }
  // The index of the search renders every page a second time.
  const { highlight } = md.options;
  const highlighted = new Map<string, string>();
  md.options.highlight = (code, language, attributes) => {
    const key = JSON.stringify([code, language, attributes]);
    const html = highlighted.get(key) ?? highlight!(code, language, attributes);
    highlighted.set(key, html);
    return html;
  };
  const fence = md.renderer.rules.fence!;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const { info, content } = tokens[index]!;
    if (info.trim() !== "mermaid") return fence(tokens, index, options, env, self);
    return `<MermaidDiagram source="${encodeURIComponent(content)}" />`;
  };
}
