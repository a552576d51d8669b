# Writes OUT/page_files.c, which embeds the files of the browser page (SOURCE, the folder ui) in the program; its
# variables are declared in router/api/page_files.h.
#
#   cmake -DSOURCE=DIR -DOUT=DIR -DGZIP=PROGRAM -P scripts/embed_page.cmake
#
# Every file is embedded, scripts and styles without their comments (but those of others, in vendor/, as they are), and,
# where that is smaller, compressed with gzip. The build's id is a checksum of all files and of this one; @BUILD@ in the
# files at the server's root stands for it, so that the page's addresses change with its files.
cmake_minimum_required(VERSION 3.25)

set(AT_ROOT index.html sw.js manifest.webmanifest favicon.svg) # served at /NAME; all others below /ui/BUILD/
set(PRELOADED app.js) # @PRELOAD@ in index.html preloads this module and all that it imports
set(BUILD_DIGITS 16)                                           # QN_PAGE_BUILD_DIGITS
set(PATH_MAX 79)                                               # QN_PAGE_PATH_MAX

# Content-Type by the name's ending.
set(TYPE_html "text/html; charset=utf-8")
set(TYPE_js "text/javascript; charset=utf-8")
set(TYPE_mjs "text/javascript; charset=utf-8")
set(TYPE_css "text/css; charset=utf-8")
set(TYPE_txt "text/plain; charset=utf-8")
set(TYPE_svg "image/svg+xml")
set(TYPE_png "image/png")
set(TYPE_webmanifest "application/manifest+json")
set(TYPE_woff2 "font/woff2")

# The base64 of 32 bytes (RFC 4648, section 4), given as 64 hexadecimal digits.
function(base64_of_sha256 hex out)
  string(SUBSTRING "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" 0 64 letters)
  set(text "")
  foreach(at RANGE 0 60 6) # three bytes give four letters; 30 bytes, then the last two
    if(at EQUAL 60)
      set(digits 4)
    else()
      set(digits 6)
    endif()
    string(SUBSTRING "${hex}" ${at} ${digits} part)
    if(digits EQUAL 4)
      string(APPEND part "00")
    endif()
    foreach(shift 18 12 6 0)
      math(EXPR letter "(0x${part} >> ${shift}) & 63")
      string(SUBSTRING "${letters}" ${letter} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
  endforeach()
  string(REGEX REPLACE "A$" "=" text "${text}") # the letter of the missing byte
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Appends a module of the page, and all modules that it imports, to the list `modules`. Names that are not relative
# paths are looked up in the import map of index.html.
function(add_module path)
  if(path IN_LIST modules)
    return()
  endif()
  list(APPEND modules ${path})
  file(READ ${SOURCE}/${path} text)
  string(REGEX MATCHALL "(from|import) *\"[A-Za-z0-9@./_-]+\"" imports "${text}")
  get_filename_component(folder ${path} DIRECTORY)
  foreach(import ${imports})
    string(REGEX REPLACE ".*\"([^\"]+)\"" "\\1" name "${import}")
    if(name MATCHES "^\\.")
      cmake_path(SET imported NORMALIZE "${folder}/${name}")
      string(REGEX REPLACE "^/" "" imported "${imported}")
    elseif(index MATCHES "\"${name}\": \"/ui/[^/]+/([^\"]+)\"")
      set(imported ${CMAKE_MATCH_1})
    else()
      message(FATAL_ERROR "ui/${path}: index.html has no \"${name}\" in its import map")
    endif()
    add_module(${imported})
  endforeach()
  set(modules ${modules} PARENT_SCOPE)
endfunction()

# Removes the block comments of a text in JavaScript or CSS that stand on lines of their own or at the end of a line.
# They are a seventh of what a browser would load.
function(without_comments text out)
  set(comment "/\\*([^*]|\\*+[^*/])*\\*+/")
  string(REGEX REPLACE "(^|\n)([ \t]*${comment}[ \t]*\n)+" "\\1" text "${text}")
  string(REGEX REPLACE "[ \t]+${comment}[ \t]*\n" "\n" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE paths LIST_DIRECTORIES false RELATIVE ${SOURCE} ${SOURCE}/*)
list(FILTER paths EXCLUDE REGEX "(^|/)\\.|~$|^vendor/LOCK$|^package\\.json$") # the last two are of the source alone
list(SORT paths)

file(SHA256 ${CMAKE_CURRENT_LIST_FILE} sums)
foreach(path ${paths})
  file(SHA256 ${SOURCE}/${path} sum)
  string(APPEND sums "${path} ${sum}\n")
endforeach()
string(SHA256 build "${sums}")
string(SUBSTRING ${build} 0 ${BUILD_DIGITS} build)

file(READ ${SOURCE}/index.html index)
set(modules "")
foreach(path ${PRELOADED})
  if(path IN_LIST paths)
    add_module(${path})
  endif()
endforeach()
set(preload "")
foreach(path ${modules})
  string(APPEND preload "<link rel=\"modulepreload\" href=\"/ui/@BUILD@/${path}\">\n")
endforeach()

file(REMOVE_RECURSE ${OUT}/files)
foreach(path ${paths})
  set(ours FALSE)
  if(path MATCHES "\\.(js|css)$" AND NOT path MATCHES "^vendor/")
    set(ours TRUE)
  endif()
  if(ours OR path IN_LIST AT_ROOT)
    file(READ ${SOURCE}/${path} text)
    if(ours)
      without_comments("${text}" text)
    endif()
    if(path IN_LIST AT_ROOT)
      string(REPLACE "@PRELOAD@\n" "${preload}" text "${text}")
      string(REPLACE "@BUILD@" ${build} text "${text}")
    endif()
    file(WRITE ${OUT}/files/${path} "${text}")
  else()
    get_filename_component(folder ${OUT}/files/${path} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(COPY_FILE ${SOURCE}/${path} ${OUT}/files/${path})
  endif()
endforeach()
execute_process(COMMAND ${GZIP} -9nkf ${paths} WORKING_DIRECTORY ${OUT}/files COMMAND_ERROR_IS_FATAL ANY)

# The page's only inline script is its import map, which the Content-Security-Policy names by its checksum.
file(READ ${OUT}/files/index.html index)
if(NOT index MATCHES "<script type=\"importmap\">([^<]*)</script>")
  message(FATAL_ERROR "ui/index.html has no <script type=\"importmap\">")
endif()
string(SHA256 map_hash "${CMAKE_MATCH_1}")
base64_of_sha256(${map_hash} map_hash)

set(rows "")
set(pieces "")
set(at 0)
foreach(path ${paths})
  string(LENGTH ${path} path_len)
  string(REGEX MATCH "[^.]*$" ending ${path})
  if(path_len GREATER PATH_MAX)
    message(FATAL_ERROR "ui/${path}: the path is longer than ${PATH_MAX} bytes")
  elseif(NOT DEFINED TYPE_${ending})
    message(FATAL_ERROR "ui/${path}: the ending has no Content-Type in scripts/embed_page.cmake")
  endif()
  file(SIZE ${OUT}/files/${path} size)
  file(SIZE ${OUT}/files/${path}.gz gzip_size)
  set(begin ${at})
  string(APPEND pieces "    \".incbin \\\"${OUT}/files/${path}\\\"\\n\"\n")
  math(EXPR at "${at} + ${size}")
  set(gzip_begin ${at})
  if(gzip_size LESS size)
    string(APPEND pieces "    \".incbin \\\"${OUT}/files/${path}.gz\\\"\\n\"\n")
    math(EXPR at "${at} + ${gzip_size}")
  else()
    set(gzip_size 0)
  endif()
  set(root false)
  if(path IN_LIST AT_ROOT)
    set(root true)
  endif()
  string(APPEND rows
    "    {\"${path}\", \"${TYPE_${ending}}\", ${root}, ${begin}, ${size}, ${gzip_begin}, ${gzip_size}},\n")
endforeach()
list(LENGTH paths count)

file(WRITE ${OUT}/page_files.c
"/* Written by scripts/embed_page.cmake. */
#include \"api/page_files.h\"

const char qn_page_build[QN_PAGE_BUILD_DIGITS + 1] = \"${build}\";
const char qn_page_map_hash[QN_PAGE_HASH_MAX + 1] = \"${map_hash}\";
const size_t qn_page_file_count = ${count};
const size_t qn_page_bytes_count = ${at};
const struct qn_page_file qn_page_files[] = {
${rows}};
__asm__(\".pushsection .rodata\\n\"
    \".balign 64\\n\"
    \".globl qn_page_bytes\\n\"
    \".type qn_page_bytes, %object\\n\"
    \"qn_page_bytes:\\n\"
${pieces}    \".size qn_page_bytes, . - qn_page_bytes\\n\"
    \".popsection\\n\");
")
