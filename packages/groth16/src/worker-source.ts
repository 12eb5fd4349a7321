/**
 * The code of src/fast-worker.ts as text, for workers of a page. build.ts replaces this module, which only pages load: the source
 * runs under Node only.
 */
export const workerSource: string = "";
