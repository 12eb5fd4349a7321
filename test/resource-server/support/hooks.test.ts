import { closeShopWorld } from "./world.ts";

// Root hook of mocha: once, after all files.
after(async () => closeShopWorld());
