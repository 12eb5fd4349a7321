/** An entry of its own, so that programs outside browsers do not load it. */
export { indexedDbCache } from "./artifacts/indexeddb-cache.ts";
