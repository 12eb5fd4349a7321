import { closeWorld as closeBuyersWorld } from "../../client/support/world.ts";
import { closeWorld } from "../../verifier-service/support/world.ts";

// Root hook of mocha: once, after all files.
after(async () => {
  await closeWorld();
  await closeBuyersWorld();
});
