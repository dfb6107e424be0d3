# What an emulated processor runs first, in place of a BIOS: it copies the parts of the ROM into memory and enters the
# Linux kernel among them in 32-bit mode. The second time, when that kernel has ended, it ends the emulator. See emulate.mjs.
.set MARK, 0x6b766164

.code16
start:
  cli
  xorw %ax, %ax
  movw %ax, %ds
  cmpl $MARK, 0x500
  je end
  movl $MARK, 0x500
  lgdtl %cs:(descriptors - start)
  movl %cr0, %eax
  orb $1, %al
  movl %eax, %cr0
  ljmpl $0x10, $flat

end:  # Bochs stops when it reads this word at this port
  movw $(word - start), %si
  movw $0x8900, %dx
1:
  movb %cs:(%si), %al
  incw %si
  outb %al, %dx
  testb %al, %al
  jnz 1b
  hlt

.code32
flat:
  movw $0x18, %ax
  movw %ax, %ds
  movw %ax, %es
  movw %ax, %ss
  cld
  movl $0xffc00000, %esi
  movl $0x90000, %edi  # what the kernel is told
  movl $(0x2000 / 4), %ecx
  rep movsl
  movl $0x100000, %edi  # the kernel
  movl $((0x200000 - 0x2000) / 4), %ecx
  rep movsl
  movl $0x4000000, %edi  # its first files
  movl $((0x200000 - 0x10000) / 4), %ecx
  rep movsl
  movl $0x90000, %esi
  xorl %ebp, %ebp
  xorl %edi, %edi
  xorl %ebx, %ebx
  movl $0x100000, %eax
  jmp *%eax

word:
  .asciz "Shutdown"
.balign 8
table:
  .quad 0, 0, 0x00cf9a000000ffff, 0x00cf92000000ffff
descriptors:
  .word 31
  .long table

.org 0xfff0  # where a processor begins
.code16
  jmp start
.org 0x10000
