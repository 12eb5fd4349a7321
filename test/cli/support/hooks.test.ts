import { closeCliWorld } from "./world.ts";

after(closeCliWorld);
