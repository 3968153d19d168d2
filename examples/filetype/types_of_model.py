"""The types that the model tells apart, in the order of its output (`target_labels_space` of its config.min.json)."""

TYPES = """
3gp ace ai aidl apk applebplist appleplist asm asp autohotkey autoit awk batch bazel bib bmp bzip c cab cat chm
clojure cmake cobol coff coffeescript cpp crt crx cs csproj css csv dart deb dex dicom diff dm dmg doc dockerfile
docx dsstore dwg dxf elf elixir emf eml epub erb erlang flac flv fortran gemfile gemspec gif gitattributes
gitmodules go gradle groovy gzip h5 handlebars haskell hcl hlp htaccess html icns ico ics ignorefile ini
internetshortcut ipynb iso jar java javabytecode javascript jinja jp2 jpeg json jsonl julia kotlin latex lha lisp
lnk lua m3u m4 macho makefile markdown matlab mht midi mkv mp3 mp4 mscompress msi mum npy npz nupkg objectivec ocaml
odp ods odt ogg one onnx otf outlook parquet pascal pcap pdb pdf pebin pem perl php pickle png po postscript
powershell ppt pptx prolog proteindb proto psd python pythonbytecode pytorch qt r randombytes randomtxt rar rdf rpm
rst rtf ruby rust scala scss sevenzip sgml shell smali snap solidity sql sqlite squashfs srt stlbinary stltext sum
svg swf swift tar tcl textproto tga thumbsdb tiff toml torrent tsv ttf twig txt typescript vba vcxproj verilog vhdl
vtt vue wasm wav webm webp winregistry wmf woff woff2 xar xls xlsb xlsx xml xpi xz yaml yara zig zip zlibstream
""".split()
NUMBER = {kind: number for number, kind in enumerate(TYPES)}
