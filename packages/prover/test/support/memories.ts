/** Runs `create` and returns the memories that WebAssembly modules got meanwhile. */
export async function memoriesOf(create: () => Promise<unknown>): Promise<WebAssembly.Memory[]> {
  const { Memory } = WebAssembly;
  const memories: WebAssembly.Memory[] = [];
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      memories.push(this);
    }
  };
  try {
    await create();
  } finally {
    WebAssembly.Memory = Memory;
  }
  return memories;
}
