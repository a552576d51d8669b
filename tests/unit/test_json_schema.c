/* JSON Schema, keyword by keyword: what the specification calls valid and what not, and what is
 * refused because it cannot be promised. */
#include "constrain_says.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define S(...)                                                                                     \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct {
    const char *schema;
    const char *const *texts; /* allowed, NULL, not allowed, NULL */
} cases[] = {
    /* Types */
    {"{\"type\":\"null\"}", S("null", NULL, "true", "nul", "0", NULL)},
    {"{\"type\":\"boolean\"}", S("true", "false", NULL, "True", "1", NULL)},
    {"{\"type\":\"integer\"}",
     S("0", "-7", "123456789", NULL, "01", "-0", "1.5", "+1", "\"1\"", "", NULL)},
    {"{\"type\":\"number\"}",
     S("0", "-7.25", "1e9", "6.02E+23", "-0.5", NULL, ".5", "1.", "01", "NaN", "1e", NULL)},
    {"{\"type\":\"string\"}",
     S("\"\"", "\"a b\"", "\"\\n\\\"\\\\\\/\\u00e9\"", "\"\xc3\xa9\xf0\x9f\x98\x80\"",
       "\"\\ud83d\\ude00\"", NULL, "a", "\"", "\"\n\"", "\"\\ud83d\"", "\"\\x\"", "\"\xff\"",
       "\"\\u0000\"", NULL)},
    {"{\"type\":[\"integer\",\"null\"]}", S("3", "null", NULL, "\"3\"", "3.5", NULL)},
    {"{\"type\":\"string\",\"nullable\":true}", S("\"a\"", "null", NULL, "1", NULL)},
    {"{\"type\":\"array\"}", S("[]", "[1,\"a\",{\"b\":[null]}]", NULL, "{}", "[1,]", "[,]", NULL)},
    {"{\"type\":\"object\"}", S("{}", "{\"a\":1}", "{\"a\":{\"b\":[true]},\"c\":\"\"}", NULL, "[]",
                                "{a:1}", "{\"a\"}", NULL)},
    {"{}", S("1", "\"a\"", "[]", "{\"x\":null}", NULL, "", "nil", NULL)},
    /* White space: some, never without an end */
    {"{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}",
     S("[1, 2]", "[\n  1,\n  2\n]", "[ 1 ]", "[\n\t1\n]", NULL, "[1 , 2]", "[1,  2]", "[1,\n\n2]",
       " [1]", "[1] ", NULL)},
    {"{\"properties\":{\"a\":{\"type\":\"integer\"}}}",
     S("{\"a\": 1}", "{ \"a\":1 }", "{\n  \"a\": 1\n}", NULL, "{\"a\" :1}", "{\"a\":  1}", NULL)},
    /* Values from a list */
    {"{\"enum\":[\"a\",1,null,[1,{\"x\":2.5}],\"\\u00e9\\n\"]}",
     S("\"a\"", "1", "null", "[1,{\"x\":2.5}]", "\"\xc3\xa9\\n\"", NULL, "\"b\"", "2", "[1]",
       "\"\"", NULL)},
    {"{\"const\":\"only\"}", S("\"only\"", NULL, "\"on\"", "only", NULL)},
    {"{\"type\":\"string\",\"enum\":[\"a\",1,\"long\"],\"maxLength\":2}",
     S("\"a\"", NULL, "1", "\"long\"", NULL)},
    {"{\"type\":\"integer\",\"enum\":[1,2.5,3,9],\"maximum\":5}",
     S("1", "3", NULL, "2.5", "9", NULL)},
    {"{\"enum\":[1,2,3],\"const\":2}", S("2", NULL, "1", "3", NULL)},
    {"{\"enum\":[{\"a\":1},{\"b\":1}],\"required\":[\"b\"]}",
     S("{\"b\":1}", NULL, "{\"a\":1}", NULL)},
    /* Numbers */
    {"{\"type\":\"integer\",\"minimum\":-5,\"maximum\":120}",
     S("-5", "0", "9", "99", "120", NULL, "-6", "121", "-10", "1200", NULL)},
    {"{\"type\":\"integer\",\"exclusiveMinimum\":0,\"exclusiveMaximum\":10}",
     S("1", "9", NULL, "0", "10", "-1", NULL)},
    {"{\"type\":\"integer\",\"minimum\":0,\"exclusiveMinimum\":true}", S("1", NULL, "0", NULL)},
    {"{\"type\":\"integer\",\"minimum\":1.5,\"maximum\":3.5}", S("2", "3", NULL, "1", "4", NULL)},
    {"{\"type\":\"integer\",\"minimum\":-300,\"maximum\":-20}",
     S("-20", "-99", "-300", NULL, "-19", "-301", "0", "20", "-2", NULL)},
    {"{\"type\":\"number\",\"minimum\":0,\"maximum\":1}",
     S("0", "1", "0.5", "1.0", "0.999", "0.0", NULL, "1.01", "-0.1", "2", "1e0", NULL)},
    {"{\"type\":\"number\",\"exclusiveMinimum\":0.25,\"exclusiveMaximum\":2.5}",
     S("0.3", "0.251", "2.49", "1", NULL, "0.25", "0.250", "2.5", "2.50", "0.1", NULL)},
    {"{\"type\":\"number\",\"minimum\":-2.5,\"maximum\":-0.5}",
     S("-2.5", "-1", "-0.5", "-0.51", NULL, "-2.51", "-0.4", "0", "1", NULL)},
    {"{\"type\":\"integer\",\"multipleOf\":7}",
     S("0", "7", "-14", "700", NULL, "1", "8", "-6", NULL)},
    {"{\"type\":\"integer\",\"multipleOf\":4,\"minimum\":10,\"maximum\":20}",
     S("12", "16", "20", NULL, "8", "10", "24", NULL)},
    {"{\"type\":\"number\",\"multipleOf\":0.05,\"minimum\":0}",
     S("0.05", "0.1", "1.15", "2", "0.10", NULL, "0.01", "0.125", "-0.05", NULL)},
    {"{\"allOf\":[{\"multipleOf\":6},{\"multipleOf\":4}],\"type\":\"integer\",\"minimum\":1,"
     "\"maximum\":30}",
     S("12", "24", NULL, "6", "4", "0", "18", NULL)},
    {"{\"type\":\"integer\",\"format\":\"int8\"}", S("-128", "127", NULL, "128", "-129", NULL)},
    {"{\"type\":\"number\",\"minimum\":1e-9}",
     S("0.000000001", "1", NULL, "0", "0.0000000001", NULL)},
    {"{\"type\":\"integer\",\"maximum\":9007199254740991,\"minimum\":9007199254740990}",
     S("9007199254740991", "9007199254740990", NULL, "9007199254740992", "9007199254740989", NULL)},
    /* Strings */
    {"{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}",
     S("\"ab\"", "\"abc\"", "\"\xc3\xa9\xc3\xa9\"", "\"\\n\\u00e9x\"", "\"\\ud83d\\ude00a\"", NULL,
       "\"a\"", "\"abcd\"", "\"\xc3\xa9\"", "\"\\ud83d\\ude00\"", NULL)},
    {"{\"type\":\"string\",\"maxLength\":0}", S("\"\"", NULL, "\"a\"", NULL)},
    {"{\"type\":\"string\",\"minLength\":1}", S("\"a\"", "\"abcdefgh\"", NULL, "\"\"", NULL)},
    {"{\"type\":\"string\",\"pattern\":\"^[A-Z]{2}-\\\\d{3}$\"}",
     S("\"AB-123\"", NULL, "\"AB-12\"", "\"xAB-123\"", "\"ab-123\"", "\"AB-1234\"", NULL)},
    /* A repeated nothing is nothing, however often. */
    {"{\"type\":\"string\",\"pattern\":\"^(?:(?:(?:()()){9999}){9999}){9999}a$\"}",
     S("\"a\"", NULL, "\"\"", "\"aa\"", NULL)},
    {"{\"type\":\"string\",\"pattern\":\"b+\"}",
     S("\"b\"", "\"abba\"", NULL, "\"a\"", "\"\"", NULL)},
    {"{\"type\":\"string\",\"pattern\":\"^a|b$\"}",
     S("\"ax\"", "\"xb\"", "\"ab\"", NULL, "\"x\"", "\"ba\"", NULL)},
    {"{\"type\":\"string\",\"pattern\":\"^(?:x\\\"|y\\\\\\\\|\\\\n)+$\"}",
     S("\"x\\\"\"", "\"y\\\\\"", "\"\\n\\n\"", NULL, "\"x\"", "\"y\"", "\"n\"", NULL)},
    {"{\"type\":\"string\",\"pattern\":\"^(?=.*[A-Z])(?!.*xx)\\\\w{3,5}$\"}",
     S("\"aBc\"", "\"ABCDE\"", NULL, "\"abc\"", "\"Axxb\"", "\"AB\"", "\"ABCDEF\"", NULL)},
    {"{\"type\":\"string\",\"pattern\":\"^\\\\S+ \\\\d\\\\D\\\\W$\"}",
     S("\"ab 1x-\"", NULL, "\"a b 1x-\"", "\"ab 1xy\"", "\"ab xx-\"", NULL)},
    {"{\"type\":\"string\",\"pattern\":\"^\\\\p{Lu}\\\\p{Ll}+$\"}",
     S("\"Abc\"", "\"\xc3\x89\xc3\xa9\"", NULL, "\"abc\"", "\"A1\"", NULL)},
    {"{\"type\":\"string\",\"pattern\":\"^[^a-y\\\\s]$\"}",
     S("\"z\"", "\"\\\"\"", "\"\xe4\xb8\xad\"", NULL, "\"a\"", "\" \"", "\"\\n\"", NULL)},
    {"{\"type\":\"string\",\"pattern\":\"^a*$\",\"minLength\":2,\"maxLength\":4}",
     S("\"aa\"", "\"aaaa\"", NULL, "\"a\"", "\"aaaaa\"", "\"ab\"", NULL)},
    {"{\"type\":\"string\",\"format\":\"date\"}",
     S("\"2024-02-29\"", "\"1999-12-31\"", "\"2000-02-29\"", NULL, "\"2023-02-29\"",
       "\"1900-02-29\"", "\"2024-13-01\"", "\"2024-04-31\"", "\"24-01-01\"", NULL)},
    {"{\"type\":\"string\",\"format\":\"time\"}",
     S("\"12:34:56Z\"", "\"23:59:59.123+01:30\"", NULL, "\"24:00:00Z\"", "\"12:60:00Z\"",
       "\"12:34:56\"", NULL)},
    {"{\"type\":\"string\",\"format\":\"date-time\"}",
     S("\"2024-02-29T00:00:00Z\"", NULL, "\"2024-02-29\"", "\"2024-02-29 00:00:00Z\"", NULL)},
    {"{\"type\":\"string\",\"format\":\"uuid\"}",
     S("\"123e4567-e89b-12d3-a456-426614174000\"", NULL, "\"123e4567e89b12d3a456426614174000\"",
       "\"x23e4567-e89b-12d3-a456-426614174000\"", NULL)},
    {"{\"type\":\"string\",\"format\":\"ipv4\"}",
     S("\"127.0.0.1\"", "\"255.255.255.255\"", NULL, "\"256.0.0.1\"", "\"1.2.3\"", "\"01.2.3.4\"",
       NULL)},
    {"{\"type\":\"string\",\"format\":\"ipv6\"}",
     S("\"::1\"", "\"::\"", "\"2001:db8::ff00:42:8329\"", "\"1:2:3:4:5:6:7:8\"", NULL,
       "\"1::2::3\"", "\"12345::\"", "\"1:2:3\"", NULL)},
    {"{\"type\":\"string\",\"format\":\"email\"}",
     S("\"a.b+c@example.org\"", NULL, "\"a@b\"", "\"@example.org\"", "\"a b@c.de\"", NULL)},
    {"{\"type\":\"string\",\"format\":\"hostname\"}",
     S("\"example.org\"", "\"a-b\"", NULL, "\"-a\"", "\"a..b\"", "\"a_b\"", NULL)},
    {"{\"type\":\"string\",\"format\":\"uri\"}",
     S("\"https://example.org/a/b?c=d#e\"", NULL, "\"example.org\"", "\"http://a b\"", NULL)},
    {"{\"type\":\"string\",\"format\":\"duration\"}",
     S("\"P1DT12H\"", "\"PT5M\"", "\"P2W\"", NULL, "\"P\"", "\"1D\"", "\"PT\"", NULL)},
    {"{\"type\":\"string\",\"format\":\"something-else\"}", S("\"x\"", NULL, "1", NULL)},
    /* Objects */
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"null\"},"
     "\"c\":{\"type\":\"boolean\"}},\"required\":[\"b\"]}",
     S("{\"b\":null}", "{\"a\":1,\"b\":null}", "{\"b\":null,\"c\":true}",
       "{\"a\":1,\"b\":null,\"c\":false}", NULL, "{}", "{\"a\":1}", "{\"b\":null,\"a\":1}",
       "{\"b\":null,\"d\":1}", "{\"b\":1}", "{\"a\":1,}", "{,\"b\":null}", NULL)},
    {"{\"properties\":{\"a\":{\"type\":\"integer\"}},\"additionalProperties\":{\"type\":"
     "\"boolean\"}}",
     S("{}", "{\"a\":1}", "{\"a\":1,\"x\":true}", "{\"x\":true,\"y\":false}", NULL, "{\"x\":1}",
       "{\"x\":true,\"a\":true}", "{\"a\":true}", NULL)},
    {"{\"properties\":{\"a\":{\"type\":\"integer\"}},\"additionalProperties\":false}",
     S("{}", "{\"a\":1}", NULL, "{\"b\":1}", NULL)},
    {"{\"additionalProperties\":{\"type\":\"integer\"}}",
     S("{}", "{\"x\":1}", "{\"x\":1,\"y\":2}", NULL, "{\"x\":\"1\"}", NULL)},
    {"{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":false},\"additionalProperties\":true}",
     S("{\"a\":1}", "{\"z\":\"anything\"}", NULL, "{\"b\":1}", "{\"\\u0061\":\"x\"}", NULL)},
    {"{\"patternProperties\":{\"^n_\":{\"type\":\"integer\"},\"^s_\":{\"type\":\"string\"}},"
     "\"additionalProperties\":false}",
     S("{}", "{\"n_a\":1,\"s_a\":\"x\"}", NULL, "{\"n_a\":\"x\"}", "{\"s_\":1}", "{\"x\":1}",
       NULL)},
    {"{\"properties\":{\"n_a\":{\"maximum\":5}},\"patternProperties\":{\"^n_\":{\"type\":"
     "\"integer\"}}"
     ",\"additionalProperties\":false}",
     S("{\"n_a\":5,\"n_b\":50}", NULL, "{\"n_a\":6}", "{\"n_a\":1.5}", "{\"n_b\":1,\"n_a\":50}",
       NULL)},
    {"{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[a-z]{2}$\"}}",
     S("{}", "{\"ab\":1,\"cd\":2}", NULL, "{\"abc\":1}", "{\"A\":1}", NULL)},
    {"{\"type\":\"object\",\"propertyNames\":{\"enum\":[\"x\",\"y\"]},"
     "\"additionalProperties\":{\"type\":\"integer\"}}",
     S("{\"x\":1}", "{\"y\":1,\"x\":2}", NULL, "{\"z\":1}", NULL)},
    {"{\"properties\":{\"a\":{\"const\":1},\"b\":{\"const\":2},\"c\":{\"const\":3}},"
     "\"minProperties\":2}",
     S("{\"a\":1,\"b\":2}", "{\"b\":2,\"c\":3}", "{\"a\":1,\"b\":2,\"c\":3}", NULL, "{}",
       "{\"a\":1}", "{\"c\":3}", NULL)},
    {"{\"properties\":{\"a\":{\"const\":1},\"b\":{\"const\":2},\"c\":{\"const\":3}},"
     "\"maxProperties\":1}",
     S("{}", "{\"a\":1}", "{\"c\":3}", NULL, "{\"a\":1,\"b\":2}", "{\"b\":2,\"c\":3}", NULL)},
    {"{\"type\":\"object\",\"minProperties\":1,\"maxProperties\":2}",
     S("{\"a\":1}", "{\"a\":1,\"b\":2}", NULL, "{}", "{\"a\":1,\"b\":2,\"c\":3}", NULL)},
    {"{\"properties\":{\"a\":{\"const\":1},\"b\":{\"const\":2}},\"dependentRequired\":{\"a\":["
     "\"b\"]}}",
     S("{}", "{\"b\":2}", "{\"a\":1,\"b\":2}", NULL, "{\"a\":1}", NULL)},
    {"{\"properties\":{\"a\":{\"const\":1},\"b\":{\"type\":\"integer\"}},"
     "\"dependentSchemas\":{\"a\":{\"properties\":{\"b\":{\"minimum\":5}},\"required\":[\"b\"]}}}",
     S("{\"b\":1}", "{\"a\":1,\"b\":5}", NULL, "{\"a\":1,\"b\":1}", "{\"a\":1}", NULL)},
    /* Arrays */
    {"{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":2,\"maxItems\":3}",
     S("[1,2]", "[1,2,3]", NULL, "[]", "[1]", "[1,2,3,4]", "[1,\"2\"]", NULL)},
    {"{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":12,\"maxItems\":14}",
     S("[1,2,3,4,5,6,7,8,9,10,11,12]", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14]", NULL,
       "[1,2,3,4,5,6,7,8,9,10,11]", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]", NULL)},
    {"{\"type\":\"array\",\"maxItems\":0}", S("[]", NULL, "[1]", NULL)},
    {"{\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"items\":false}",
     S("[]", "[1]", "[1,\"a\"]", NULL, "[\"a\"]", "[1,\"a\",2]", NULL)},
    {"{\"prefixItems\":[{\"type\":\"integer\"}],\"items\":{\"type\":\"boolean\"},\"minItems\":2}",
     S("[1,true]", "[1,true,false]", NULL, "[1]", "[true,true]", "[1,2]", NULL)},
    {"{\"items\":[{\"type\":\"integer\"}],\"additionalItems\":{\"type\":\"null\"}}",
     S("[]", "[1]", "[1,null,null]", NULL, "[1,2]", NULL)},
    {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[\"a\",\"b\",\"c\"]},"
     "\"minItems\":2}",
     S("[\"a\",\"c\"]", "[\"c\",\"b\",\"a\"]", NULL, "[\"a\"]", "[\"a\",\"a\"]",
       "[\"a\",\"b\",\"a\"]", NULL)},
    {"{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"contains\":{\"minimum\":10}}",
     S("[10]", "[1,20,3]", "[1,10]", NULL, "[]", "[1,2]", NULL)},
    /* Several schemas at once */
    {"{\"allOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":"
     "[\"a\"]},{\"properties\":{\"a\":{\"minimum\":3},\"b\":{\"const\":1}},\"required\":[\"b\"]}]}",
     S("{\"a\":3,\"b\":1}", NULL, "{\"a\":2,\"b\":1}", "{\"a\":3}", "{\"b\":1}", NULL)},
    {"{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\",\"maxLength\":1}]}",
     S("5", "\"a\"", NULL, "\"ab\"", "true", NULL)},
    {"{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"integer\"}},\"required\":[\"k\"],"
     "\"anyOf\":[{\"properties\":{\"k\":{\"maximum\":1}}},{\"properties\":{\"k\":{\"minimum\":9}}}]"
     "}",
     S("{\"k\":1}", "{\"k\":9}", NULL, "{\"k\":5}", "{}", NULL)},
    {"{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}",
     S("1", "\"a\"", NULL, "null", NULL)},
    /* The property that tells the branches apart becomes a must. */
    {"{\"oneOf\":[{\"properties\":{\"t\":{\"const\":\"a\"},\"x\":{\"type\":\"integer\"}}},"
     "{\"properties\":{\"t\":{\"const\":\"b\"},\"y\":{\"type\":\"integer\"}}}]}",
     S("{\"t\":\"a\",\"x\":1}", "{\"t\":\"b\",\"y\":1}", NULL, "{\"t\":\"a\",\"y\":1}", "{}",
       "{\"x\":1}", NULL)},
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"const\":1},\"b\":{\"const\":2}},"
     "\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
     S("{\"a\":1}", "{\"b\":2}", NULL, "{}", "{\"a\":1,\"b\":2}", NULL)},
    {"{\"type\":\"integer\",\"oneOf\":[{\"maximum\":3},{\"minimum\":4}]}", S("3", "4", NULL, NULL)},
    {"{\"type\":\"string\",\"not\":{\"enum\":[\"a\",\"b\"]}}",
     S("\"c\"", "\"ab\"", NULL, "\"a\"", NULL)},
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"x\"}}", S("\"abc\"", NULL, "\"axc\"", NULL)},
    {"{\"type\":[\"integer\",\"string\",\"null\"],\"not\":{\"type\":\"string\"}}",
     S("1", "null", NULL, "\"a\"", NULL)},
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"const\":1},\"b\":{\"const\":2}},"
     "\"not\":{\"required\":[\"a\"]}}",
     S("{}", "{\"b\":2}", NULL, "{\"a\":1}", NULL)},
    {"{\"type\":\"object\",\"properties\":{\"c\":{\"enum\":[\"x\",\"y\"]},\"d\":{\"type\":"
     "\"integer\"},"
     "\"e\":{\"type\":\"integer\"}},\"required\":[\"c\"],\"if\":{\"properties\":{\"c\":{\"const\":"
     "\"x\"}}},"
     "\"then\":{\"required\":[\"d\"]},\"else\":{\"required\":[\"e\"]}}",
     S("{\"c\":\"x\",\"d\":1}", "{\"c\":\"y\",\"e\":1}", "{\"c\":\"y\",\"d\":1,\"e\":2}", NULL,
       "{\"c\":\"x\"}", "{\"c\":\"y\",\"d\":1}", NULL)},
    /* References */
    {"{\"$defs\":{\"p\":{\"type\":\"integer\",\"minimum\":1}},\"type\":\"array\",\"items\":{\"$"
     "ref\":"
     "\"#/$defs/p\"}}",
     S("[1,2]", NULL, "[0]", NULL)},
    {"{\"definitions\":{\"a/b ~c\":{\"const\":1}},\"$ref\":\"#/definitions/a~1b%20~0c\"}",
     S("1", NULL, "2", NULL)},
    {"{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"integer\"},\"next\":{\"anyOf\":[{\"$"
     "ref\":"
     "\"#\"},{\"type\":\"null\"}]}},\"required\":[\"v\",\"next\"]}",
     S("{\"v\":1,\"next\":null}", "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3,\"next\":null}}}",
       NULL, "{\"v\":1}", "{\"v\":1,\"next\":{\"v\":2}}", NULL)},
    {"{\"$defs\":{\"t\":{\"type\":\"object\",\"properties\":{\"c\":{\"type\":\"array\",\"items\":{"
     "\"$ref\":"
     "\"#/$defs/t\"}}},\"required\":[\"c\"],\"additionalProperties\":false}},\"$ref\":\"#/$defs/"
     "t\"}",
     S("{\"c\":[]}", "{\"c\":[{\"c\":[]},{\"c\":[{\"c\":[]}]}]}", NULL, "{}", "{\"c\":[1]}", NULL)},
    {"{\"$id\":\"https://example.org/s\",\"$defs\":{\"x\":{\"$anchor\":\"here\",\"const\":7}},"
     "\"$ref\":\"https://example.org/s#here\"}",
     S("7", NULL, "8", NULL)},
    /* Branches that nothing can satisfy go away. */
    {"{\"anyOf\":[{\"type\":\"integer\",\"minimum\":5,\"maximum\":4},{\"const\":\"x\"},false]}",
     S("\"x\"", NULL, "5", NULL)},
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^$\","
     "\"minLength\":1},"
     "\"b\":{\"const\":1}}}",
     S("{}", "{\"b\":1}", NULL, "{\"a\":\"\"}", NULL)},
};

static void each_keyword_allows_what_is_valid(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        wrong += says_wrong(c, &(struct qn_constrain){.schema = cases[i].schema}, cases[i].texts);
    assert_int_equal(wrong, 0);
    qn_constrainer_free(c);
}

static void what_cannot_be_promised_is_refused(void **state)
{
    static const struct {
        const char *schema;
        qn_err code;
        const char *says;
    } bad[] = {
        {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\"}}",
         QN_EUNSUPPORTED, "items: uniqueItems"},
        {"{\"properties\":{\"a\":{\"properties\":{\"b\":{\"$ref\":\"other.json\"}}}}}",
         QN_EUNSUPPORTED, "properties.a.properties.b: $ref \"other.json\" is not in this schema"},
        {"{\"$ref\":\"#/$defs/none\"}", QN_EINVAL, "does not resolve"},
        {"{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"string\",\"maxLength\":3}]}",
         QN_EUNSUPPORTED, "oneOf: a value could be valid by branch 0 and by branch 1"},
        {"{\"properties\":{\"a\":{\"pattern\":\"(a)\\\\1\"}}}", QN_EUNSUPPORTED,
         "properties.a: the pattern \"(a)\\1\" has a back reference"},
        {"{\"pattern\":\"\\\\bx\"}", QN_EUNSUPPORTED, "word boundary"},
        {"{\"pattern\":\"x(?=y)\"}", QN_EUNSUPPORTED, "lookahead elsewhere"},
        {"{\"pattern\":\"(\"}", QN_EINVAL, "group that is not closed"},
        {"{\"enum\":[{\"a\":1}],\"propertyNames\":{\"maxLength\":3}}", QN_EUNSUPPORTED,
         "enum or const is not supported next to keywords"},
        {"{\"pattern\":\"[b-a]\"}", QN_EINVAL, "out of order"},
        {"{\"type\":\"thing\"}", QN_EINVAL, "type: expected null, boolean"},
        {"{\"type\":\"string\",\"minLength\":-1}", QN_EINVAL, "minLength: expected a whole number"},
        {"{\"properties\":[]}", QN_EINVAL, "properties: expected an object"},
        {"{\"required\":\"a\"}", QN_EINVAL, "required: expected an array"},
        {"{\"anyOf\":[]}", QN_EINVAL, "anyOf: expected an array of schemas"},
        {"{\"items\":3}", QN_EINVAL, "items: expected a schema"},
        {"{\"type\":\"integer\",\"multipleOf\":0}", QN_EINVAL, "above 0"},
        {"{\"type\":\"integer\",\"multipleOf\":123457}", QN_EUNSUPPORTED, "multipleOf"},
        {"{\"type\":\"object\",\"minProperties\":3}", QN_EUNSUPPORTED, "minProperties"},
        {"{\"not\":{\"minimum\":3}}", QN_EUNSUPPORTED, "not: minimum is not supported"},
        {"{\"contains\":{\"const\":1},\"minContains\":2}", QN_EUNSUPPORTED, "contains"},
        {"{\"$dynamicRef\":\"#x\"}", QN_EUNSUPPORTED, "$dynamicRef"},
        {"{\"anyOf\":[{\"$ref\":\"#\"},{\"const\":1}]}", QN_EUNSUPPORTED, "endlessly"},
        {"{\"type\":\"integer\",\"minimum\":5,\"maximum\":4}", QN_EINVAL, "no text can satisfy it"},
        {"{\"type\":\"object\",\"properties\":{\"a\":false},\"required\":[\"a\"]}", QN_EINVAL,
         "no text can satisfy it"},
        {"{\"properties\":{\"next\":{\"$ref\":\"#\"}},\"required\":[\"next\"]}", QN_EINVAL,
         "no text can satisfy it"},
        {"false", QN_EINVAL, "no text can satisfy it"},
        {"{", QN_EINVAL, "schema: "},
        {"{\"pattern\":\"^(a|b)*a(a|b){40}$\"}", QN_ELIMIT, "pattern"},
        {"{\"pattern\":\"^(((a{100}){100}){100}){100}$\"}", QN_ELIMIT, "pattern"},
    };
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct qn_constraint *k = NULL;
        struct qn_error e = {0};
        qn_err err =
            qn_constraint_of_job(c, &(struct qn_constrain){.schema = bad[i].schema}, &k, &e);
        if (err != bad[i].code || !strstr(e.message, bad[i].says) || strcmp(e.param, "schema")) {
            fprintf(stderr, "%s: %s (%s)\n", bad[i].schema, e.message, qn_err_name(err));
            wrong++;
        }
        qn_constraint_unref(k);
    }
    assert_int_equal(wrong, 0);
    qn_constrainer_free(c);
}

/* A list under one key: n schemas that say nothing. */
static void put_list(struct qn_buf *b, const char *key, int n)
{
    qn_buf_fmt(b, "\"%s\":[", key);
    for (int i = 0; i < n; i++)
        qn_buf_str(b, i ? ",{}" : "{}");
    qn_buf_char(b, ']');
}

/* Alternatives of alternatives, each with all that holds beside them: more than the memory of one
 * grammar. */
static void what_has_too_many_alternatives_is_refused(void **state)
{
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    struct qn_constraint *k = NULL;
    struct qn_error e = {0};
    struct qn_buf b;
    (void)state;
    qn_buf_init(&b, 1 << 20);
    qn_buf_str(&b, "{\"allOf\":[{");
    put_list(&b, "anyOf", 1024);
    qn_buf_str(&b, "},{");
    put_list(&b, "allOf", 240);
    qn_buf_str(&b, "}],");
    put_list(&b, "anyOf", 1024);
    qn_buf_char(&b, '}');
    assert_int_equal(
        qn_constraint_of_job(c, &(struct qn_constrain){.schema = qn_buf_cstr(&b)}, &k, &e),
        QN_ELIMIT);
    assert_non_null(strstr(e.message, "too large"));
    qn_buf_deinit(&b);
    qn_constrainer_free(c);
}

/* What OpenAI's and Zod's clients send for a typical tool. */
static void schemas_of_clients(void **state)
{
    static const char schema[] =
        "{\"$schema\":\"http://json-schema.org/draft-07/"
        "schema#\",\"type\":\"object\",\"properties\":{"
        "\"location\":{\"type\":\"string\",\"description\":\"The city\"},"
        "\"unit\":{\"type\":\"string\",\"enum\":[\"celsius\",\"fahrenheit\"],\"default\":"
        "\"celsius\"},"
        "\"days\":{\"anyOf\":[{\"type\":\"integer\",\"exclusiveMinimum\":0,\"maximum\":"
        "9007199254740991},{\"type\":\"null\"}],\"title\":\"Days\",\"examples\":[3]}},"
        "\"required\":[\"location\",\"unit\",\"days\"],\"additionalProperties\":false,\"x-order\":"
        "1}";
    static const char *const texts[] = {
        "{\"location\":\"Paris, France\",\"unit\":\"celsius\",\"days\":3}",
        "{\n  \"location\": \"\",\n  \"unit\": \"fahrenheit\",\n  \"days\": null\n}",
        NULL,
        "{\"location\":\"Paris\",\"unit\":\"kelvin\",\"days\":3}",
        "{\"location\":\"Paris\",\"unit\":\"celsius\",\"days\":0}",
        "{\"location\":\"Paris\",\"unit\":\"celsius\"}",
        NULL};
    struct qn_constrain_vocab v = byte_vocab();
    struct qn_constrainer *c = qn_constrainer_new(&v);
    (void)state;
    assert_int_equal(says_wrong(c, &(struct qn_constrain){.schema = schema}, texts), 0);
    qn_constrainer_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_keyword_allows_what_is_valid),
        cmocka_unit_test(what_cannot_be_promised_is_refused),
        cmocka_unit_test(what_has_too_many_alternatives_is_refused),
        cmocka_unit_test(schemas_of_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
