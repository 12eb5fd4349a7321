// Builds static files that any web server can serve from any path.
import { defineConfig } from "vite";
import { META_CONTENT_POLICY } from "./src/content-policy.ts";

/** Adds the content policy before everything that loads something. */
const contentPolicy = {
  name: "content-policy",
  transformIndexHtml: () => [
    {
      tag: "meta",
      attrs: { "http-equiv": "Content-Security-Policy", content: META_CONTENT_POLICY },
      injectTo: "head-prepend" as const,
    },
  ],
};

export default defineConfig({
  // Relative URLs, because the service serves the app below its own path.
  base: "./",
  plugins: [contentPolicy],
  build: {
    outDir: "dist",
    // Every browser that can run the prover supports this target.
    target: "es2022",
    // The content security policy allows data: URLs only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // test/web reads the first view's files from it.
    manifest: "files.json",
    reportCompressedSize: false,
    // The engine's worker contains ethers; it is not part of the first view.
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es" },
});
