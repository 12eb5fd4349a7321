import { describeBrowserModules } from "@sotto/test-kit/browser-modules";

const entries = ["index", "extend"].map((name) => import.meta.resolve(`../src/${name}.ts`));

describeBrowserModules(entries, "/packages/protocol/src/", ["@noble/"]);
