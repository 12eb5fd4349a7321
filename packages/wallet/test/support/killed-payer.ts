// A payer in a separate process that kills itself between journaling a prepared payment and finishing its proof.
import { SqliteStore } from "@sotto/wallet/sqlite";
import { URL, World } from "./world.ts";

const world = new World();
const payer = await world.funded([5_000n], { store: new SqliteStore(process.argv[2]!) });
world.chain.time += 120;
world.chain.mine();
const terms = { recipient: world.recipient(await world.wallet()), amount: 1_000n };
await payer.prepare(terms);
// Nothing runs after this signal.
world.prover.beforeFinish = () => void process.kill(process.pid, "SIGKILL");
await payer.pay({ ...terms, resourceUrl: URL });
