import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anchorOf } from "@sotto/command/anchor";
import { defineConfig } from "vitepress";
import { root } from "../exports.ts";
import { repositoryPages } from "../markdown.ts";
import { addressOf, EXCLUDED, sidebar } from "../pages.ts";

const icon = readFileSync(join(root, "packages", "web", "public", "icon.svg")).toString("base64");

export default defineConfig({
  title: "sotto",
  description: "Private payments for HTTP",
  lang: "en",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `data:image/svg+xml;base64,${icon}` }]],
  srcDir: root,
  srcExclude: EXCLUDED,
  outDir: "build/site",
  cacheDir: "build/cache",
  rewrites: addressOf,
  // The README of a package has the same heading.
  transformPageData: ({ relativePath, title }) =>
    /^reference\/(?!index)/.test(relativePath) ? { title: `Exports of ${title}` } : undefined,
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // The anchors of GitHub, so that a link works in the repository and on the site.
    anchor: { slugify: anchorOf },
    config: repositoryPages,
  },
  themeConfig: {
    nav: [
      { text: "Tour", link: "/tour" },
      { text: "Charge", link: "/resource-server" },
      { text: "Pay", link: "/client" },
      { text: "API", link: "/openapi" },
      { text: "Errors", link: "/errors" },
    ],
    sidebar: sidebar() as never,
    outline: [2, 3],
    search: { provider: "local" },
  },
  vite: {
    // The pages are outside the site's folder.
    server: { fs: { allow: [root] } },
    // The build on the server runs in the site's folder, which has Vue; the pages' folders do not.
    plugins: [
      {
        name: "vue-of-the-site",
        enforce: "pre",
        resolveId: (id, _, { ssr = false }) => (ssr && /^vue(?:\/|$)/.test(id) ? { id, external: true } : undefined),
      },
    ],
    build: { chunkSizeWarningLimit: 4000, reportCompressedSize: false },
  },
});
