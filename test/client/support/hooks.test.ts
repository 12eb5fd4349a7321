import { closeWorld } from "./world.ts";

// Root hook of mocha: once, after all files.
after(async () => closeWorld());
