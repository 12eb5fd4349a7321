import { describeBrowserModules } from "@sotto/test-kit/browser-modules";

describeBrowserModules([import.meta.resolve("../../src/index.ts")], "/packages/mpp/src/", [
  "@noble/hashes/",
  "@sotto/protocol",
]);
