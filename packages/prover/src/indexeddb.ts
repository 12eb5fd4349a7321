/** This is a separate entry, so that programs outside browsers do not load it. */
export { indexedDbCache } from "./artifacts/indexeddb-cache.ts";
