;; Finds the bytes that matter for a walk through the strings of a JSON text: unescaped quotes,
;; control characters, and the backslashes of all escapes except the short ones (\n and the like).
;; For each of these marks it writes eight bytes: the place of the mark, and the number of short
;; escapes before it.
;;
;; The bytes are in a window from 256 up to `end`. One more byte follows the window, because it may
;; be escaped. The function writes the marks from `marks` on and returns where they end. The caller
;; pads the last window with bytes that are never marks.
(module
  (memory (export "memory") 5)
  ;; The short escapes, indexed by the escaped character: " / \ b f n r t
  (data (i32.const 0x22) "\01")
  (data (i32.const 0x2f) "\01")
  (data (i32.const 0x5c) "\01")
  (data (i32.const 0x62) "\01")
  (data (i32.const 0x66) "\01")
  (data (i32.const 0x6e) "\01")
  (data (i32.const 0x72) "\01")
  (data (i32.const 0x74) "\01")
  ;; The state at the end of a window, from which the next window continues.
  (global $shortEscapes (mut i32) (i32.const 0))
  (global $escapedByte (mut i32) (i32.const 0))

  ;; Prepares for a new text.
  (func (export "restart")
    (global.set $shortEscapes (i32.const 0))
    (global.set $escapedByte (i32.const 0)))

  (func (export "findMarks") (param $end i32) (param $marks i32) (result i32)
    (local $block v128) (local $at i32) (local $found i32) (local $place i32)
    (local $isShort i32) (local $escapes i32) (local $escaped i32)
    (local.set $at (i32.const 256))
    (local.set $escapes (global.get $shortEscapes))
    (local.set $escaped (global.get $escapedByte))
    (loop $blocks
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          (local.set $block (v128.load (local.get $at)))
          (local.set $found
            (i8x16.bitmask
              (v128.or
                (v128.or
                  (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x22)))
                  (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x5c))))
                (i8x16.lt_u (local.get $block) (i8x16.splat (i32.const 0x20))))))
          (loop $bits
            (if (local.get $found)
              (then
                (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $found))))
                ;; Clear the lowest bit.
                (local.set $found
                  (i32.and (local.get $found) (i32.sub (local.get $found) (i32.const 1))))
                (br_if $bits (i32.eq (local.get $place) (local.get $escaped)))
                (if (i32.eq (i32.load8_u (local.get $place)) (i32.const 0x5c))
                  (then
                    (local.set $isShort
                      (i32.load8_u (i32.load8_u (i32.add (local.get $place) (i32.const 1)))))
                    (local.set $escapes (i32.add (local.get $escapes) (local.get $isShort)))
                    (local.set $escaped (i32.add (local.get $place) (i32.const 1)))
                    (br_if $bits (local.get $isShort))))
                (i32.store (local.get $marks) (local.get $place))
                (i32.store offset=4 (local.get $marks) (local.get $escapes))
                (local.set $marks (i32.add (local.get $marks) (i32.const 8)))
                (br $bits))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $blocks))))
    (global.set $shortEscapes (local.get $escapes))
    ;; The place as the next window counts it.
    (global.set $escapedByte
      (i32.add (i32.const 256) (i32.sub (local.get $escaped) (local.get $at))))
    (local.get $marks)))
