import { closeWorld as closeBuyersWorld } from "../../buyer/support/world.ts";
import { closeWorld } from "../../service/support/world.ts";

// Root hook of mocha: once, after all files.
after(async () => {
  await closeWorld();
  await closeBuyersWorld();
});
