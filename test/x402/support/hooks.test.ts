import { closeWorld } from "../../service/support/world.ts";

// Root hook of mocha: once, after all files.
after(async () => closeWorld());
