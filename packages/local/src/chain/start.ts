// `pnpm chain [--port 8545]`: a local chain for development. It runs until Ctrl-C and keeps no state.
import { parseOptions, parsePort, runCommand } from "@sotto/command/command";
import { serve } from "./server.ts";

await runCommand(async () => {
  const { port = "8545" } = parseOptions(process.argv.slice(2), ["port"]);
  const { port: actual } = await serve(parsePort(port));
  console.log(`local chain 31337 at http://127.0.0.1:${actual}; press Ctrl-C to stop it`);
  console.log("Its accounts are Hardhat's public test accounts: never send anything of value to them.");
  console.log("Next: npm run deploy:local");
});
