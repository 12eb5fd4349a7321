// A merchant in a separate process that searches, and kills itself once it has recorded what it found.
import { SqliteStore } from "@sotto/wallet/sqlite";
import { paidLate, SEARCHER } from "./late.ts";
import { watchedStore } from "./world.ts";

const { world } = await paidLate();
const disk = new SqliteStore(process.argv[2]!);
const recorded = async () => Object(await disk.get("scan/search")).value?.found.length > 0;
const store = watchedStore(disk, async () => {
  // Nothing runs after this signal.
  if (await recorded()) process.kill(process.pid, "SIGKILL");
});
const merchant = await world.wallet({ seed: SEARCHER, store });
await merchant.scan();
await merchant.search();
