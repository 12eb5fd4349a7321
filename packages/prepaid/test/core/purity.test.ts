import { describeBrowserModules } from "@sotto/test-kit/browser-modules";

describeBrowserModules([import.meta.resolve("../../src/index.ts")], "/packages/prepaid/src/", [
  "@noble/curves/",
  "@noble/hashes/",
  "@sotto/protocol",
]);
