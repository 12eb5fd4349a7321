// Proves in a worker of its own, so that neither the page nor the wallet waits for a proof.
import { serveProver } from "@sotto/client/browser";
import { createProver, loadArtifacts, lockOf } from "@sotto/prover";

/** @param name the worker's name: where the artifacts are, and which set */
const { service, set } = JSON.parse(self.name) as { service: string; set: string };
const lock = lockOf(set);

/** The service serves files by their hash; the hashes are compiled in. */
const byHash: typeof fetch = (input) => {
  const [, circuit = "", kind = ""] = /([^/]+)\.(wasm|zkey|vkey)(?:\.json)?$/.exec(String(input)) ?? [];
  return fetch(`${service}/artifacts/${lock.circuits[circuit]?.[kind]}`);
};

serveProver(self, createProver(await loadArtifacts({ set, baseUrl: `${service}/artifacts/`, fetch: byHash })));
self.postMessage("ready");
