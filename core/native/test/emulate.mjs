/**
 * Runs the test program on an emulated processor, such as one with instructions that this machine does not have:
 *
 *   node core/native/test/emulate.mjs --kernel bzImage [--bochs FILE] [--model sapphire_rapids] [--turns 4]
 *
 * Needs binutils, Bochs 3.0 or later (`./configure --enable-x86-64 --enable-avx --enable-evex --enable-amx
 * --enable-all-optimizations --disable-pci --with-nogui`), and a small Linux kernel of at most 2 MB: `make tinyconfig`,
 * `scripts/config -d RELOCATABLE -d KERNEL_XZ -d UNWINDER_ORC` and, each behind `-e`, 64BIT KERNEL_LZ4 PRINTK TTY
 * SERIAL_8250 SERIAL_8250_CONSOLE EARLY_PRINTK BLK_DEV_INITRD BINFMT_ELF FUTEX POSIX_TIMERS HIGH_RES_TIMERS MULTIUSER
 * ADVISE_SYSCALLS MEMBARRIER BUG, then `make olddefconfig bzImage`. `--clear 304` has that kernel leave AVX-512 off,
 * `--clear 154` all of AVX.
 */
import { $, argv, fs, os, path } from 'zx';

const MB = 1 << 20;
/** Parts of the ROM and where boot.S has put them. */
const ROM = { bytes: 4 * MB, kernel: 0x2000, files: 2 * MB, boot: 4 * MB - 0x10000 };
const MEMORY = { told: 0x90000, files: 0x4000000, megabytes: 256 };

const here = import.meta.dirname;
const { kernel, bochs = 'bochs', model = 'sapphire_rapids', turns = 4 } = argv;
if (!kernel) throw new Error('--kernel names no file: see the head of emulate.mjs');
const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'kvad-emulate-'));
const at = (name) => path.join(folder, name);
$.quiet = true;

try {
  await $`node ${here}/../build.mjs --check ${here}/../build/check/static --static`;
  await $`strip -o ${at('check')} ${here}/../build/check/static`;
  await $`as --32 -o ${at('boot.o')} ${here}/boot.S`;
  await $`ld -m elf_i386 -e 0xf0000 -Ttext 0xf0000 --oformat binary -o ${at('boot')} ${at('boot.o')}`;
  await fs.writeFile(at('rom'), await rom());
  await fs.writeFile(at('bochsrc'), await settings());
  await $`${bochs} -q -f ${at('bochsrc')}`.nothrow();
  const said = (await fs.readFile(at('serial'), 'latin1')).replaceAll('\r', '');
  const ended = /exitcode=0x(\w+)/.exec(said);
  console.log(
    said
      .split('\n')
      .filter((line) => /random shapes|FAILED|differences/.test(line))
      .join('\n'),
  );
  console.log(ended ? `${model}: ended with 0x${ended[1]}` : `${model}: did not end\n${said.slice(-2000)}`);
  process.exitCode = ended && Number.parseInt(ended[1], 16) === 0 ? 0 : 1;
} finally {
  await fs.remove(folder);
}

async function rom() {
  const image = await fs.readFile(kernel);
  const code = image.subarray((image[0x1f1] + 1) * 512);
  const files = archive([
    ['dev', 0o40755],
    ['tmp', 0o41777],
    ['dev/console', 0o20600, Buffer.alloc(0), [5, 1]],
    ['check', 0o100755, await fs.readFile(at('check'))],
    ['TRAILER!!!', 0],
  ]);
  const all = Buffer.alloc(ROM.bytes);
  const put = (part, from, to) => {
    if (part.length > to - from) throw new Error(`a part of ${part.length} bytes is more than the ROM has room for`);
    part.copy(all, from);
  };
  put(told(image, files.length), 0, ROM.kernel);
  put(code, ROM.kernel, ROM.files);
  put(files, ROM.files, ROM.boot);
  put(await fs.readFile(at('boot')), ROM.boot, ROM.bytes);
  return all;
}

/** The kernel's boot parameters (Documentation/x86/boot.rst) with its command line behind them. */
function told(image, filesLength) {
  const page = Buffer.alloc(ROM.kernel);
  image.copy(page, 0x1f1, 0x1f1, 0x202 + image[0x201]);
  page[0x210] = 0xff; // a loader that has no number
  page.writeUInt32LE(MEMORY.files, 0x218);
  page.writeUInt32LE(filesLength, 0x21c);
  page.writeUInt32LE(MEMORY.told + 0x1000, 0x228);
  const ranges = [
    [0, 0x9f000],
    [MB, (MEMORY.megabytes - 1) * MB],
  ];
  page[0x1e8] = ranges.length;
  for (const [index, [from, size]] of ranges.entries()) {
    page.writeBigUInt64LE(BigInt(from), 0x2d0 + 20 * index);
    page.writeBigUInt64LE(BigInt(size), 0x2d8 + 20 * index);
    page.writeUInt32LE(1, 0x2e0 + 20 * index);
  }
  // What Bochs announces and has only in part: counters, short copies without the long ones, tiles.
  const cleared = [107, 580, 600, ...(argv.clear === undefined ? [] : [argv.clear])];
  const words = `console=ttyS0 quiet rdinit=/check panic=-1 reboot=t clearcpuid=${cleared}`;
  page.write(`${words} -- ${turns}\0`, 0x1000, 'latin1');
  return page;
}

/** A cpio archive of the kind `newc`. */
function archive(entries) {
  const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
  return Buffer.concat(
    entries.flatMap(([name, mode, data = Buffer.alloc(0), device = [0, 0]], index) => {
      const numbers = [index + 1, mode, 0, 0, 1, 0, data.length, 0, 0, ...device, name.length + 1, 0];
      const head = `070701${numbers.map((n) => n.toString(16).padStart(8, '0')).join('')}${name}\0`;
      return [padded(Buffer.from(head, 'latin1')), padded(data)];
    }),
  );
}

async function settings() {
  const nothing = Buffer.alloc(512);
  nothing.set([0x55, 0xaa, 1]); // an option ROM that does nothing
  nothing[511] = -nothing.reduce((sum, byte) => sum + byte) & 0xff;
  await fs.writeFile(at('vga'), nothing);
  return `cpu: model=${model}, count=1, ips=50000000, reset_on_triple_fault=1
memory: guest=${MEMORY.megabytes}, host=${MEMORY.megabytes}
romimage: file=${at('rom')}, address=0x${(2 ** 32 - ROM.bytes).toString(16)}
vgaromimage: file=${at('vga')}
com1: enabled=1, mode=file, dev=${at('serial')}
display_library: nogui
clock: sync=none
log: ${at('log')}
panic: action=fatal
`;
}
