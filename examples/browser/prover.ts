// The worker that proves, so that the page stays responsive.
import { serveProver } from "@sotto/client/browser";
import { createProver, loadArtifacts } from "@sotto/prover";

// Wherever the files come from, they are those whose hashes are compiled in.
const artifacts = await loadArtifacts({ baseUrl: new URL("artifacts/", self.location.href).href });
serveProver(self, createProver(artifacts));
self.postMessage("ready");
