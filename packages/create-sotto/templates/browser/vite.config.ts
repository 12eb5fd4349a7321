import { defineConfig } from "vite";

const address = { host: "127.0.0.1", port: Number(process.env["PORT"] ?? 5173), strictPort: true };

export default defineConfig({
  base: "./",
  server: address,
  preview: address,
  // These settings, and no others, become part of the page.
  envPrefix: ["SOTTO_SERVICE", "SOTTO_NODE", "SOTTO_FAUCET", "SOTTO_URL"],
  // The content policy of index.html forbids data: addresses, except for images.
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1500 },
  worker: { format: "es" },
});
