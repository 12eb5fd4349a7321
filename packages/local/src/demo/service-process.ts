// The service as a child process of the demo.
import { serveParent } from "./serve-parent.ts";

await serveParent();
