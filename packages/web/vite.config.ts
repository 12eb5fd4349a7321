// Builds static files that any web server can serve from any path.
import { defineConfig } from "vite";

export default defineConfig({
  // Relative addresses: the service serves the app below its own path.
  base: "./",
  build: {
    outDir: "dist",
    // No browser that runs the prover is older.
    target: "es2022",
    // The content policy forbids data: addresses for anything but images.
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
